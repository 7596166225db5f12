/* Draws what is seen of the timeline. Each row is computed once as a line of pixels,
   by how much of each pixel an op or wait covers, and the line is repeated over the
   row's height: the cost is that of the pixels and of the ops in view, and what is
   below a pixel is mixed, not lost. */

const line = { size: 0 };

function makeLine(size) {
  if (line.size === size) return;
  line.size = size;
  line.red = new Float32Array(size);
  line.green = new Float32Array(size);
  line.blue = new Float32Array(size);
  line.cover = new Float32Array(size);
  line.merged = new Float32Array(size);
  line.pixels = new Uint32Array(size);
  line.marked = new Uint32Array(size);
}

/* The part of a pixel that [x0, x1) covers gets the colour. */
function coverPixel(x, share, rgb, merged) {
  line.red[x] += share * rgb[0];
  line.green[x] += share * rgb[1];
  line.blue[x] += share * rgb[2];
  line.cover[x] += share;
  line.merged[x] += merged ? share : 0;
}

function cover(x0, x1, rgb, merged) {
  x0 = Math.max(0, x0);
  x1 = Math.min(line.size, x1);
  if (!(x1 > x0)) return;
  const first = Math.floor(x0), last = Math.min(line.size - 1, Math.floor(x1));
  if (first === last) { coverPixel(first, x1 - x0, rgb, merged); return; }
  coverPixel(first, first + 1 - x0, rgb, merged);
  for (let x = first + 1; x < last; x++) coverPixel(x, 1, rgb, merged);
  coverPixel(last, x1 - last, rgb, merged);
}

function packPixel(red, green, blue) { return (255 << 24 | blue << 16 | green << 8 | red) >>> 0; }

/* A gap of a fraction of a pixel between ops that can be told apart stays visible. */
function finishLine(lane, mark) {
  for (let x = 0; x < line.size; x++) {
    const share = Math.min(1, line.cover[x]), scale = line.cover[x] > 1 ? 1 / line.cover[x] : 1, rest = 1 - share;
    const red = line.red[x] * scale + lane[0] * rest, green = line.green[x] * scale + lane[1] * rest;
    const blue = line.blue[x] * scale + lane[2] * rest, m = Math.min(1, line.merged[x]);
    line.pixels[x] = packPixel(red, green, blue);
    line.marked[x] = m > 0 ? packPixel(red + (mark[0] - red) * m, green + (mark[1] - green) * m,
      blue + (mark[2] - blue) * m) : line.pixels[x];
  }
}

function coverRow(plan, row, ink) {
  const ops = plan.meta.ops, to = (row + 1) * ops, scale = line.size / (view.t1 - view.t0);
  const edge = (t) => (t - view.t0) * scale;
  for (const list of [line.red, line.green, line.blue, line.cover, line.merged]) list.fill(0);
  for (let i = firstAbove(plan.end, row * ops, to, view.t0); i < to; i++) {
    const before = i % ops > 0 ? plan.end[i - 1] : 0, start = plan.start[i];
    if (before > view.t1) break;
    const x0 = edge(start), x1 = edge(plan.end[i]);
    if (plan.barrier[i] > plan.ready[i]) cover(edge(plan.ready[i]), edge(plan.barrier[i]), ink.mergewait, false);
    if (start > plan.barrier[i]) cover(edge(plan.barrier[i]), x0, ink.handover, false);
    /* Ops that are wide enough are set apart from what follows by a sliver. */
    cover(x0, x1 - x0 > 5 ? x1 - 1 : x1, ink.passes[plan.pass[i]], plan.merges.length > 0 && mergeOf(plan, i) >= 0);
  }
}

function inkOf() {
  const of = (name) => rgbOf(colors[name]);
  return { passes: [of('forward'), of('backward'), of('weight')], handover: of('handover'),
    mergewait: of('mergewait'), lanes: [of('lane'), of('lane-other')], ground: of('ground'), ink: of('ink') };
}

function drawRow(plan, row, ink, pixels, area) {
  const top = Math.max(0, Math.round((yOfRow(row) - AXIS) * view.ratio));
  const full = Math.round((yOfRow(row + 1) - AXIS) * view.ratio), apart = view.rowHeight >= 5 ? 1 : 0;
  const bottom = Math.min(area.height, Math.max(top + 1, full - apart));
  const mark = view.rowHeight >= 9 ? Math.max(2, Math.round(view.rowHeight * view.ratio / 6)) : 0;
  if (bottom <= top) return;
  coverRow(plan, row, ink);
  finishLine(ink.lanes[Math.floor(row / plan.meta.pp) % 2], ink.ink);
  for (let y = top; y < bottom; y++)
    pixels.set(y >= full - apart - mark ? line.marked : line.pixels, y * area.width);
}

/* Rows that are less than a pixel high: those that begin a pixel. */
function drawRows(plan, context, ink) {
  const area = { width: Math.max(1, Math.round(plotWidth() * view.ratio)), height: Math.max(1, Math.round(plotHeight() * view.ratio)) };
  const image = context.createImageData(area.width, area.height), pixels = new Uint32Array(image.data.buffer);
  makeLine(area.width);
  pixels.fill(packPixel(...ink.ground));
  const step = Math.max(1, Math.floor(1 / (view.rowHeight * view.ratio))), first = Math.max(0, rowOfY(AXIS));
  for (let row = first - first % step; row < plan.rows && yOfRow(row) < view.height; row += step)
    drawRow(plan, row, ink, pixels, area);
  context.putImageData(image, Math.round(GUTTER * view.ratio), Math.round(AXIS * view.ratio));
}

function drawOpNames(plan, context) {
  if (view.rowHeight < 12) return;
  const on = [colors['on-forward'], colors['on-backward'], colors['on-weight']];
  context.font = Math.min(12, view.rowHeight - 3) + 'px system-ui, sans-serif';
  context.textAlign = 'center';
  context.textBaseline = 'middle';
  for (let row = Math.max(0, rowOfY(AXIS)); row < plan.rows && yOfRow(row) < view.height; row++) {
    const to = (row + 1) * plan.meta.ops, y = yOfRow(row) + view.rowHeight * 0.45;
    if (y < AXIS + 4) continue;
    for (let i = firstAbove(plan.end, row * plan.meta.ops, to, view.t0); i < to && plan.start[i] < view.t1; i++) {
      const x0 = Math.max(GUTTER, xOfTime(plan.start[i])), x1 = Math.min(view.width - SCROLLBAR, xOfTime(plan.end[i]));
      if (x1 - x0 < 30) continue;
      context.fillStyle = on[plan.pass[i]];
      context.fillText(opName(plan, i), (x0 + x1) / 2, y);
    }
  }
}

/* Every stage has its name if there is room, else every replica, else every so many. */
function drawRowNames(plan, context) {
  const pp = plan.meta.pp, each = view.rowHeight >= 11 ? 1 : pp;
  const every = each * Math.max(1, Math.ceil(12 / (view.rowHeight * each)));
  context.clearRect(0, AXIS, GUTTER, plotHeight());
  context.font = '11px system-ui, sans-serif';
  context.textAlign = 'right';
  context.textBaseline = 'middle';
  for (let row = Math.floor(Math.max(0, rowOfY(AXIS)) / every) * every; row < plan.rows; row += every) {
    const y = yOfRow(row) + (each === 1 ? view.rowHeight / 2 : Math.min(view.rowHeight * pp / 2, 7));
    if (y > view.height - 4) break;
    if (y < AXIS + 5) continue;
    context.fillStyle = row === picked.row && each === 1 ? colors.ink : colors.soft;
    context.fillText(each === 1 ? rowName(plan, row) : 'dp' + row / pp, GUTTER - 6, y);
  }
}

function drawAxis(context) {
  const span = view.t1 - view.t0, step = niceStep(span / Math.max(1, plotWidth() / 100));
  context.clearRect(0, 0, view.width, AXIS);
  context.font = '11px system-ui, sans-serif';
  context.textAlign = 'center';
  context.textBaseline = 'middle';
  context.fillStyle = colors.soft;
  context.strokeStyle = colors.line;
  context.beginPath();
  for (let t = Math.ceil(view.t0 / step) * step; t <= view.t1; t += step) {
    const x = xOfTime(t);
    context.moveTo(x, AXIS - 5);
    context.lineTo(x, AXIS);
    if (x > GUTTER + 24 && x < view.width - 40)
      context.fillText(tickText(t, step, view.t1, ['ps', 'ns', '\u00b5s', 'ms', 's']), x, AXIS / 2 - 1);
  }
  context.stroke();
}

function drawScrollbar(plan, context) {
  const whole = plan.rows * view.rowHeight, x = view.width - SCROLLBAR;
  context.clearRect(x, AXIS, SCROLLBAR, plotHeight());
  if (whole <= plotHeight() + 0.5) return;
  context.fillStyle = colors.lane;
  context.fillRect(x + 1, AXIS, SCROLLBAR - 2, plotHeight());
  context.fillStyle = colors.soft;
  const size = Math.max(14, plotHeight() * plotHeight() / whole);
  context.fillRect(x + 1, AXIS + (plotHeight() - size) * view.top / (whole - plotHeight()), SCROLLBAR - 2, size);
}

function boxOf(plan, i) {
  const x0 = Math.max(GUTTER, xOfTime(plan.start[i])), x1 = Math.min(view.width - SCROLLBAR, xOfTime(plan.end[i]));
  return { x0, x1: Math.max(x1, x0 + 2), y0: yOfRow(Math.floor(i / plan.meta.ops)), middle: view.rowHeight / 2 };
}

/* From where an op's input comes and where its output goes. */
function drawPeers(plan, context, i) {
  for (const [from, to] of [[peerOf(plan, i, 1), i], [i, peerOf(plan, i, -1)]]) {
    if (from < 0 || to < 0) continue;
    const a = boxOf(plan, from), b = boxOf(plan, to);
    context.beginPath();
    context.moveTo(a.x1, a.y0 + a.middle);
    context.lineTo(b.x0, b.y0 + b.middle);
    context.stroke();
  }
}

function drawSelection(plan, context) {
  if (picked.op < 0) return;
  const box = boxOf(plan, picked.op);
  context.save();
  context.beginPath();
  context.rect(GUTTER, AXIS, plotWidth(), plotHeight());
  context.clip();
  context.strokeStyle = colors.ink;
  context.lineWidth = 1.5;
  drawPeers(plan, context, picked.op);
  context.lineWidth = 4;
  context.strokeStyle = colors.ground;
  context.strokeRect(box.x0, box.y0, box.x1 - box.x0, Math.max(3, view.rowHeight - 1));
  context.lineWidth = 2;
  context.strokeStyle = colors.peak;
  context.strokeRect(box.x0, box.y0, box.x1 - box.x0, Math.max(3, view.rowHeight - 1));
  context.restore();
}

function timelineHeight(plan) {
  return Math.round(Math.min(Math.max(150, plan.rows * 22 + AXIS + 2), Math.max(260, window.innerHeight * 0.62)));
}

function drawTimeline(plan) {
  const canvas = byId('timeline'), context = canvas.getContext('2d');
  Object.assign(view, fitCanvas(canvas, timelineHeight(plan)));
  clampView(plan);
  context.setTransform(view.ratio, 0, 0, view.ratio, 0, 0);
  context.clearRect(0, 0, view.width, view.height);
  drawRows(plan, context, inkOf());
  drawOpNames(plan, context);
  drawRowNames(plan, context);
  drawAxis(context);
  drawScrollbar(plan, context);
  drawSelection(plan, context);
}
