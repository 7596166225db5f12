/* Reads the data, fills the page, draws, and draws again when anything changes. */

function fillLegends(plan) {
  const items = [['var(--forward)', 'forward (F)'], ['var(--backward)', 'backward (B)']];
  if (plan.meta.pipeline === 'zero-bubble') items.push(['var(--weight)', 'weight gradients (W)']);
  items.push(['var(--handover)', 'input on its way'], ['var(--bubble)', 'bubble']);
  if (plan.merges.length > 0) items.push(['var(--mergewait)', 'waits for its merge'], ['var(--ink)', 'edge below: merged pack']);
  fillLegend(byId('legend'), items);
  fillLegend(byId('memory-legend'), KINDS.map((kind, k) => ['var(--mem-' + kind + ')', KIND_TEXT[k]]));
}

function redraw(plan) {
  drawTimeline(plan);
  drawMemory(plan);
}

function listenTheme(plan) {
  byId('theme').addEventListener('click', () => { nextTheme(); applyTheme(); redraw(plan); });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => { applyTheme(); redraw(plan); });
}

/* The stage that is fullest is looked at first. */
function firstRow(plan) {
  let row = 0, most = -1;
  plan.devices.forEach((device, i) => { if (device.peakBytes > most) { most = device.peakBytes; row = i; } });
  return row;
}

function start() {
  applyTheme();
  const plan = readPlan();
  findWaits(plan);
  picked.row = firstRow(plan);
  fillSummary(plan);
  fillLegends(plan);
  fillHistogram(plan);
  fillLoad(plan);
  fillPolicies(plan);
  listenTimeline(plan);
  listenMemory(plan);
  listenTheme(plan);
  byId('rank').value = String(picked.row);
  Object.assign(view, fitCanvas(byId('timeline'), timelineHeight(plan)));
  resetView(plan, false);
  redraw(plan);
  window.addEventListener('resize', () => askDraw(plan));
  return plan;
}

const report = start();
