/* What part of the timeline is seen, and what lies where. Times in picoseconds, places
   in CSS pixels of the canvas. Drawing is in timeline_draw.js, input in timeline_input.js. */

const GUTTER = 92, AXIS = 24, SCROLLBAR = 8, ROW_LEAST = 0.25, ROW_MOST = 60, SPAN_LEAST = 1000;

/* rowHeight 0 fits all rows. */
const view = { t0: 0, t1: 1, top: 0, rowHeight: 18, width: 0, height: 0, ratio: 1 };
const picked = { op: -1, hover: null, row: 0 };

function plotWidth() { return Math.max(1, view.width - GUTTER - SCROLLBAR); }
function plotHeight() { return Math.max(1, view.height - AXIS); }
function xOfTime(t) { return GUTTER + (t - view.t0) / (view.t1 - view.t0) * plotWidth(); }
function timeOfX(x) { return view.t0 + (x - GUTTER) / plotWidth() * (view.t1 - view.t0); }
function rowOfY(y) { return Math.floor((y - AXIS + view.top) / view.rowHeight); }
function yOfRow(row) { return AXIS + row * view.rowHeight - view.top; }

function clampView(plan) {
  const whole = Math.max(plan.makespan, 1), span = Math.min(whole, Math.max(SPAN_LEAST, view.t1 - view.t0));
  view.t0 = Math.min(Math.max(0, view.t0), whole - span);
  view.t1 = view.t0 + span;
  view.rowHeight = Math.min(ROW_MOST, Math.max(view.rowHeight, ROW_LEAST));
  view.top = Math.max(0, Math.min(view.top, plan.rows * view.rowHeight - plotHeight()));
}

/* All rows as high as the window has room for, but readable; then there is more below. */
function resetView(plan, fitRows) {
  const fit = plotHeight() / plan.rows;
  view.t0 = 0;
  view.t1 = Math.max(plan.makespan, 1);
  view.top = 0;
  view.rowHeight = fitRows ? Math.min(22, fit) : Math.min(22, Math.max(7, fit));
  clampView(plan);
}

function zoomTime(plan, factor, x) {
  const at = timeOfX(x === undefined ? GUTTER + plotWidth() / 2 : Math.max(GUTTER, x));
  const span = Math.max(SPAN_LEAST, (view.t1 - view.t0) * factor);
  const share = (at - view.t0) / (view.t1 - view.t0);
  view.t0 = at - share * span;
  view.t1 = view.t0 + span;
  clampView(plan);
}

function zoomRows(plan, factor, y) {
  const at = y === undefined ? AXIS + plotHeight() / 2 : Math.max(AXIS, y);
  const row = (at - AXIS + view.top) / view.rowHeight;
  view.rowHeight = Math.min(ROW_MOST, Math.max(ROW_LEAST, view.rowHeight * factor));
  view.top = row * view.rowHeight - (at - AXIS);
  clampView(plan);
}

function pan(plan, dx, dy) {
  const t = dx / plotWidth() * (view.t1 - view.t0);
  view.t0 += t;
  view.t1 += t;
  view.top += dy;
  clampView(plan);
}

/* The op at a time in a row, the one after it in a pause. */
function opAtTime(plan, row, t) {
  const from = row * plan.meta.ops, to = from + plan.meta.ops;
  const i = firstAbove(plan.end, from, to, t);
  return i < to ? { op: i, inside: t >= plan.start[i] } : { op: -1, inside: false };
}

/* What is under the pointer: an op, also one that is thinner than the pointer, or a pause. */
function hitTest(plan, x, y) {
  const row = rowOfY(y);
  if (x < GUTTER || x > view.width - SCROLLBAR || y < AXIS || row < 0 || row >= plan.rows) return null;
  const t = timeOfX(x), reach = 2 / plotWidth() * (view.t1 - view.t0);
  let hit = opAtTime(plan, row, t);
  if (!hit.inside) {
    const near = opAtTime(plan, row, t + reach);
    if (near.inside) hit = near;
  }
  return { row, t, op: hit.op, inside: hit.inside };
}

function rowName(plan, row) { return 'dp' + Math.floor(row / plan.meta.pp) + ' pp' + row % plan.meta.pp; }
function opName(plan, i) { return PASS_LETTER[plan.pass[i]] + plan.pack[i]; }

function placeText(plan, row) {
  return rowName(plan, row) + ', rank ' + plan.rank[row];
}

function sliceLines(plan, k) {
  const from = plan.packSlices[k], to = plan.packSlices[k + 1], shown = Math.min(to, from + 4), parts = [];
  for (let s = from; s < shown; s++) {
    const [sample, start, length] = plan.slices.subarray(3 * s, 3 * s + 3);
    parts.push('sample ' + sample + ' [' + countText(start) + ', ' + countText(start + length) + ')');
  }
  if (to > shown) parts.push(countText(to - shown) + ' more');
  return parts.length ? [parts.join(', ')] : [];
}

function waitLines(plan, i) {
  const before = i % plan.meta.ops > 0 ? plan.end[i - 1] : 0, parts = [];
  const add = (span, text) => { if (span > 0) parts.push(text + ' ' + timeText(span)); };
  add(plan.ready[i] - before, 'bubble');
  add(plan.barrier[i] - plan.ready[i], 'waits for its merge');
  add(plan.start[i] - plan.barrier[i], 'waits for its input on the way');
  return parts.length ? ['before it: ' + parts.join(', ')] : [];
}

/* The same lines for tooltip and details: a title, then what is known. */
function describeOp(plan, i) {
  const row = Math.floor(i / plan.meta.ops), dp = Math.floor(row / plan.meta.pp), pass = plan.pass[i];
  const k = packIndex(plan, dp, pass, plan.pack[i]), merge = mergeOf(plan, i);
  const lines = [opName(plan, i) + ': ' + PASS_NAME[pass] + ' of pack ' + plan.pack[i]];
  lines.push(placeText(plan, row) + (plan.meta.chunks > 1 ? ', chunk ' + plan.chunk[i] : ''));
  lines.push(timeText(plan.start[i]) + ' to ' + timeText(plan.end[i]) + ', takes ' + timeText(plan.end[i] - plan.start[i]));
  const count = plan.packSlices[k + 1] - plan.packSlices[k];
  lines.push(plural(count, 'slice') + ', ' + plural(plan.packOwn[k], 'token') +
    (merge >= 0 ? ' of the merged ' + countText(plan.packTokens[k]) : ''));
  if (merge >= 0) {
    const m = plan.merges[merge];
    lines.push('merge ' + merge + ': sample ' + m.sample + ' over replicas ' + m.first + ' to ' + (m.first + m.replicas - 1));
  }
  return lines.concat(sliceLines(plan, k), waitLines(plan, i));
}

function describePause(plan, hit) {
  if (hit.op < 0) {
    const end = plan.end[(hit.row + 1) * plan.meta.ops - 1];
    return ['bubble after the last op', placeText(plan, hit.row), 'takes ' + timeText(plan.makespan - end)];
  }
  const before = hit.op % plan.meta.ops > 0 ? plan.end[hit.op - 1] : 0;
  return ['pause of ' + timeText(plan.start[hit.op] - before) + ' before ' + opName(plan, hit.op),
    placeText(plan, hit.row)].concat(waitLines(plan, hit.op));
}

function describe(plan, hit) {
  return hit.inside ? describeOp(plan, hit.op) : describePause(plan, hit);
}

/* Brings an op into view, moving no more than it must. */
function reveal(plan, i) {
  const row = Math.floor(i / plan.meta.ops), y = row * view.rowHeight, span = view.t1 - view.t0;
  if (y < view.top) view.top = y;
  if (y + view.rowHeight > view.top + plotHeight()) view.top = y + view.rowHeight - plotHeight();
  if (plan.start[i] < view.t0 || plan.end[i] > view.t1) {
    view.t0 = (plan.start[i] + plan.end[i]) / 2 - span / 2;
    view.t1 = view.t0 + span;
  }
  clampView(plan);
}

function zoomToOp(plan, i) {
  const middle = (plan.start[i] + plan.end[i]) / 2, span = Math.max(plan.end[i] - plan.start[i], 1) * 12;
  view.t0 = middle - span / 2;
  view.t1 = middle + span / 2;
  if (view.rowHeight < 16) zoomRows(plan, 16 / view.rowHeight);
  reveal(plan, i);
}

/* The op to select when the arrows say so: beside it in the row, or nearest in time. */
function neighbour(plan, i, dx, dy) {
  const ops = plan.meta.ops, row = Math.floor(i / ops);
  if (dx !== 0) return Math.min(Math.max(i + dx, row * ops), row * ops + ops - 1);
  const other = Math.min(Math.max(row + dy, 0), plan.rows - 1);
  const hit = opAtTime(plan, other, (plan.start[i] + plan.end[i]) / 2);
  return hit.op >= 0 ? hit.op : other * ops + ops - 1;
}
