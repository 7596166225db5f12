/* What stands around the charts: summary, histogram, load, policies. Tables of the
   document, so that they wrap, scroll and are read aloud by themselves. */

function addFigure(list, name, value, more) {
  const box = list.appendChild(document.createElement('div'));
  box.append(element('dt', name));
  const text = box.appendChild(element('dd', value));
  if (more) text.append(element('small', more));
}

function total(list) { return list.reduce((sum, value) => sum + value, 0); }

/* Idle share of all stages, for a plan that no simulation judges. */
function idlePpm(plan) {
  let busy = 0;
  for (let i = 0; i < plan.start.length; i++) busy += plan.end[i] - plan.start[i];
  return plan.makespan > 0 ? (1 - busy / (plan.rows * plan.makespan)) * 1e6 : 0;
}

function fillTimes(list, plan) {
  const m = plan.meta, s = m.stats || m.plan, differs = m.stats && s.makespan !== m.plan.makespan;
  addFigure(list, 'Makespan', timeText(s.makespan), differs ? 'in the plan file ' + timeText(m.plan.makespan) : '');
  addFigure(list, 'Ideal', timeText(s.ideal), 'compute alone, evenly spread');
  addFigure(list, 'Lower bound', timeText(s.bound), 'of any plan');
  addFigure(list, 'Ratio', ratioText(m.stats ? s.ratio : s.ideal > 0 ? s.makespan / s.ideal * 1e6 : 0), 'makespan to ideal');
  addFigure(list, 'Bubble', percentText(m.stats ? s.bubble : idlePpm(plan)), 'idle, all devices');
}

function fillRates(list, plan) {
  const s = plan.meta.stats, unknown = 'unknown';
  addFigure(list, 'Step', s ? timeText(s.step) : unknown, 'with reduction, optimiser, gather');
  addFigure(list, 'Tokens/s', s ? countText(s.tokensPerSecond) : unknown, 'of the step');
  addFigure(list, 'MFU', s ? percentText(s.mfu) : unknown, s ? countText(s.deviceGflops) + ' GFLOP/s a device' : '');
  addFigure(list, 'Peak memory', s ? bytesText(s.peakBytes) : unknown,
    'cap ' + bytesText(s ? s.memory : plan.meta.plan.memory) + (s && s.memory !== null && s.peakBytes > s.memory ? ': does not fit' : ''));
}

function fillSummary(plan) {
  const m = plan.meta, list = byId('summary');
  list.replaceChildren();
  fillTimes(list, plan);
  fillRates(list, plan);
  addFigure(list, 'Batch', countText(total(plan.lengths)) + ' tokens', plural(plan.lengths.length, 'sample'));
  addFigure(list, 'Packs', countText(m.forwardPacks) + ' / ' + countText(m.backwardPacks), 'forward / backward, each replica');
  addFigure(list, 'Merges', countText(plan.merges.length), 'samples shared by replicas');
  byId('subtitle').textContent = [m.policy, m.model + ' on ' + m.device, 'dp=' + m.dp + ' tp=' + m.tp + ' pp=' + m.pp + ' cp=' + m.cp,
    (m.chunks > 1 ? 'interleaved ' : '') + m.pipeline + (m.chunks > 1 ? ', ' + m.chunks + ' chunks a stage' : ''),
    plural(plan.start.length, 'op'), 'slimpack ' + m.version].join(' \u00b7 ');
  document.title = 'slimpack: ' + m.policy + ', dp=' + m.dp + ' pp=' + m.pp + ', ' + timeText((m.stats || m.plan).makespan);
  fillNote(m);
}

function fillNote(m) {
  const note = byId('note'), other = m.model !== m.plan.model || m.device !== m.plan.device;
  note.hidden = Boolean(m.stats) && !other;
  note.textContent = m.stats ? 'Simulated under another model or device than the plan file names (' + m.plan.model + ' on ' + m.plan.device + ').'
    : 'Times are those of the plan file: no preset is named as its model and device.';
}

/* Bin b holds the lengths from 2^b to 2^(b + 1) - 1. */
function histogramBins(lengths) {
  const bins = Array.from({ length: 32 }, () => ({ count: 0, tokens: 0 }));
  for (const length of lengths) {
    const bin = 31 - Math.clz32(length);
    bins[bin].count++;
    bins[bin].tokens += length;
  }
  return bins;
}

function stackOf(parts) {
  const stack = element('div', '', 'stack');
  for (const [share, color] of parts) {
    const bar = stack.appendChild(document.createElement('i'));
    bar.style.width = Math.max(0, share * 100) + '%';
    bar.style.background = color;
  }
  return stack;
}

function fillHistogram(plan) {
  const bins = histogramBins(plan.lengths), most = Math.max(...bins.map((b) => b.count)), tokens = total(plan.lengths);
  const head = document.createElement('thead'), body = document.createElement('tbody');
  fillRow(head, ['tokens', 'samples', '', 'share of tokens'], 'th');
  const held = bins.map((b, bin) => b.count > 0 ? bin : -1).filter((bin) => bin >= 0);
  for (let bin = held[0]; bin <= held[held.length - 1]; bin++) {
    const b = bins[bin], from = Math.pow(2, bin);
    const row = fillRow(body, [from === 1 ? '1' : countText(from) + ' \u2013 ' + countText(2 * from - 1), countText(b.count),
      stackOf([[b.count / most, 'var(--forward)']]), percentText(b.tokens / tokens * 1e6)]);
    row.children[2].className = 'bar-cell';
  }
  byId('histogram').replaceChildren(head, body);
}

const LOAD_PARTS = [['forward', 'forward'], ['backward', 'backward'], ['weight', 'weight gradients'],
  ['communication', 'communication'], ['bubble', 'bubble']];

function loadColor(part) { return 'var(--' + (part === 'communication' ? 'handover' : part) + ')'; }

/* Where the time of a stage goes; without a simulation communication is within the ops. */
function stageLoad(plan, row) {
  if (plan.devices.length > 0) return plan.devices[row];
  const load = { forward: 0, backward: 0, weight: 0, communication: 0, bubble: plan.makespan };
  for (let i = row * plan.meta.ops; i < (row + 1) * plan.meta.ops; i++) {
    const span = plan.end[i] - plan.start[i];
    load[['forward', 'backward', 'weight'][plan.pass[i]]] += span;
    load.bubble -= span;
  }
  return load;
}

function replicaTokens(plan, dp) {
  let tokens = 0;
  for (let pack = 0; pack < plan.meta.forwardPacks; pack++) tokens += plan.packOwn[packIndex(plan, dp, FORWARD, pack)];
  return tokens;
}

function replicaLoad(plan, dp) {
  const load = { least: Infinity, most: 0 }, pp = plan.meta.pp;
  for (const [part] of LOAD_PARTS) load[part] = 0;
  for (let row = dp * pp; row < (dp + 1) * pp; row++) {
    const stage = stageLoad(plan, row), busy = plan.makespan - stage.bubble;
    for (const [part] of LOAD_PARTS) load[part] += stage[part] / pp;
    load.least = Math.min(load.least, busy);
    load.most = Math.max(load.most, busy);
  }
  return load;
}

function fillLoad(plan) {
  const head = document.createElement('thead'), body = document.createElement('tbody'), whole = Math.max(1, plan.makespan);
  fillRow(head, ['replica', 'busy, least \u2013 most stage', 'mean of its stages', 'tokens'], 'th');
  for (let dp = 0; dp < plan.meta.dp; dp++) {
    const load = replicaLoad(plan, dp), button = element('button', 'dp' + dp, 'row-button');
    button.type = 'button';
    button.addEventListener('click', () => { selectOp(plan, -1); selectRow(plan, dp * plan.meta.pp); reveal(plan, dp * plan.meta.pp * plan.meta.ops); });
    const row = fillRow(body, [button, percentText(load.least / whole * 1e6) + ' \u2013 ' + percentText(load.most / whole * 1e6),
      stackOf(LOAD_PARTS.map(([part]) => [load[part] / whole, loadColor(part)])), countText(replicaTokens(plan, dp))]);
    row.children[2].className = 'bar-cell';
    row.children[2].firstChild.role = 'img';
    row.children[2].firstChild.ariaLabel = row.children[2].title = LOAD_PARTS.map(([part, text]) => text + ' ' + percentText(load[part] / whole * 1e6)).join(', ');
  }
  byId('load').replaceChildren(head, body);
  fillLegend(byId('load-legend'), LOAD_PARTS.filter(([part]) => part !== 'weight' || plan.meta.pipeline === 'zero-bubble')
    .map(([part, text]) => [loadColor(part), text]));
  markLoad(plan);
}

function markLoad(plan) {
  const dp = Math.floor(picked.row / plan.meta.pp);
  [...byId('load').tBodies[0].rows].forEach((row, i) => row.classList.toggle('selected', i === dp));
}

function policyCells(name, s, fixed) {
  return [name, timeText(s.makespan), ratioText(s.ratio), fixed ? (fixed / s.makespan).toFixed(2) + ' \u00d7' : '\u2013', percentText(s.bubble),
    countText(s.forwardPacks) + ' / ' + countText(s.backwardPacks), countText(s.slices), countText(s.liveTokens), bytesText(s.peakBytes),
    countText(s.tokensPerSecond), percentText(s.mfu)];
}

function fillPolicies(plan) {
  const m = plan.meta, none = byId('policies-none'), head = document.createElement('thead'), body = document.createElement('tbody');
  if (m.policies.length === 0) {
    none.textContent = 'Absent: ' + m.noPolicies + '.';
    byId('policies').hidden = true;
    return;
  }
  none.textContent = 'The same batch, planned anew by every policy with the planner\'s default parameters and this plan\'s topology, alignment and pipeline. The first row is this plan.';
  const fixed = m.policies.find((row) => row.policy === 'fixed-pack' && row.reason === null);
  fillRow(head, ['policy', 'makespan', 'ratio', 'speed-up', 'bubble', 'packs f / b', 'slices', 'live tokens', 'memory', 'tokens/s', 'MFU'], 'th');
  fillRow(body, policyCells(m.policy + ' (this plan)', m.stats, fixed && fixed.makespan)).className = 'own';
  for (const row of m.policies) {
    if (row.reason === null) { fillRow(body, policyCells(row.policy, row, fixed && fixed.makespan)); continue; }
    const cell = fillRow(body, [row.policy, 'no plan: ' + row.reason]).children[1];
    cell.colSpan = 10;
    cell.className = 'reason';
  }
  byId('policies').replaceChildren(head, body);
}
