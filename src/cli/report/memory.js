/* Memory of one stage over the whole step, kind upon kind, with its peak and the cap. */

const MEMORY_LEFT = 64, MEMORY_TOP = 22, MEMORY_BOTTOM = 22;
/* op -1: the table is about the peak. */
const memoryCursor = { op: -1 };
const memoryOf = { row: -1, kinds: null, total: null, peak: 0 };

/* Unpacked for the row that is looked at. */
function loadMemory(plan, row) {
  if (memoryOf.row === row) return;
  memoryOf.row = row;
  memoryOf.kinds = readMemory(plan, row);
  memoryOf.total = new Float64Array(plan.meta.ops);
  for (const list of memoryOf.kinds) for (let i = 0; i < list.length; i++) memoryOf.total[i] += list[i];
  memoryOf.peak = 0;
  for (let i = 0; i < memoryOf.total.length; i++)
    if (memoryOf.total[i] > memoryOf.total[memoryOf.peak]) memoryOf.peak = i;
}

function memoryCap(plan) { return plan.meta.stats.memory; }

/* The cap is in the picture when it is not far above it. */
function memoryMost(plan) {
  const peak = Math.max(1, memoryOf.total[memoryOf.peak]), cap = memoryCap(plan);
  return 1.08 * (cap !== null && cap < 1.7 * peak ? Math.max(peak, cap) : peak);
}

function memoryFrame(plan, size) {
  const width = size.width - MEMORY_LEFT - 8, height = size.height - MEMORY_TOP - MEMORY_BOTTOM;
  const most = memoryMost(plan), whole = Math.max(1, plan.makespan);
  return { size, width, height, most, x: (t) => MEMORY_LEFT + t / whole * width,
    y: (bytes) => MEMORY_TOP + height - bytes / most * height };
}

/* One column a pixel: the fullest op that begins in it. */
function memoryColumns(plan, frame, row) {
  const ops = plan.meta.ops, columns = new Int32Array(Math.ceil(frame.width) + 1).fill(-1);
  for (let i = 0; i < ops; i++) {
    const at = Math.floor(frame.x(plan.start[row * ops + i]) - MEMORY_LEFT), held = columns[at];
    if (at >= 0 && at < columns.length && (held < 0 || memoryOf.total[i] > memoryOf.total[held])) columns[at] = i;
  }
  return columns;
}

function drawStacks(plan, context, frame, row) {
  const columns = memoryColumns(plan, frame, row), ground = frame.y(0);
  const sum = new Float64Array(columns.length);
  for (let kind = 0; kind < KINDS.length; kind++) {
    context.fillStyle = colors['mem-' + KINDS[kind]];
    for (let x = 0, op = -1; x < columns.length; x++) {
      if (columns[x] >= 0) op = columns[x];
      if (op < 0) continue;
      const bytes = memoryOf.kinds[kind][op], high = frame.y(sum[x] + bytes), low = frame.y(sum[x]);
      sum[x] += bytes;
      if (bytes > 0) context.fillRect(MEMORY_LEFT + x, high, 1.02, Math.min(ground, low) - high);
    }
  }
}

function drawMemoryAxes(plan, context, frame) {
  context.font = '11px system-ui, sans-serif';
  context.fillStyle = colors.soft;
  context.strokeStyle = colors.line;
  context.textBaseline = 'middle';
  context.textAlign = 'right';
  const step = niceStep(frame.most / 5);
  for (let bytes = 0; bytes < frame.most; bytes += step) {
    context.fillText(tickText(bytes, step, frame.most, ['B', 'kB', 'MB', 'GB', 'TB']), MEMORY_LEFT - 6, frame.y(bytes));
    context.beginPath();
    context.moveTo(MEMORY_LEFT, frame.y(bytes));
    context.lineTo(MEMORY_LEFT + frame.width, frame.y(bytes));
    context.stroke();
  }
  context.textAlign = 'center';
  const tick = niceStep(plan.makespan / Math.max(1, frame.width / 100));
  for (let t = 0; t <= plan.makespan; t += tick)
    if (frame.x(t) < MEMORY_LEFT + frame.width - 20)
      context.fillText(tickText(t, tick, plan.makespan, ['ps', 'ns', '\u00b5s', 'ms', 's']), frame.x(t), frame.size.height - 10);
}

function drawCap(plan, context, frame) {
  const cap = memoryCap(plan);
  if (cap === null || cap > frame.most) return;
  context.setLineDash([6, 4]);
  context.strokeStyle = colors.ink;
  context.beginPath();
  context.moveTo(MEMORY_LEFT, frame.y(cap));
  context.lineTo(MEMORY_LEFT + frame.width, frame.y(cap));
  context.stroke();
  context.setLineDash([]);
}

/* What the timeline shows, as a bracket above the chart. */
function drawWindow(plan, context, frame) {
  if (view.t1 - view.t0 >= plan.makespan) return;
  context.fillStyle = colors.soft;
  context.fillRect(frame.x(view.t0), MEMORY_TOP - 5, Math.max(2, frame.x(view.t1) - frame.x(view.t0)), 3);
}

function drawMarker(context, frame, t, bytes, color, text) {
  const x = frame.x(t), y = frame.y(bytes);
  context.strokeStyle = context.fillStyle = color;
  context.lineWidth = 1.5;
  context.beginPath();
  context.moveTo(x, MEMORY_TOP);
  context.lineTo(x, MEMORY_TOP + frame.height);
  context.stroke();
  context.beginPath();
  context.arc(x, y, 4, 0, 7);
  context.fill();
  context.lineWidth = 1;
  if (!text) return;
  context.font = '600 11px system-ui, sans-serif';
  const room = context.measureText(text).width, left = x + room / 2 > frame.size.width - 4;
  context.textAlign = left ? 'right' : x - room / 2 < 2 ? 'left' : 'center';
  context.fillText(text, left ? frame.size.width - 4 : x, 8);
}

function drawMemory(plan) {
  if (!plan.meta.stats) return;
  const canvas = byId('memory'), context = canvas.getContext('2d'), row = picked.row, first = row * plan.meta.ops;
  loadMemory(plan, row);
  const frame = memoryFrame(plan, fitCanvas(canvas));
  context.setTransform(frame.size.ratio, 0, 0, frame.size.ratio, 0, 0);
  context.clearRect(0, 0, frame.size.width, frame.size.height);
  drawMemoryAxes(plan, context, frame);
  drawStacks(plan, context, frame, row);
  drawCap(plan, context, frame);
  drawWindow(plan, context, frame);
  const peak = memoryOf.peak, cursor = memoryCursor.op;
  if (cursor >= 0) drawMarker(context, frame, plan.start[first + cursor], memoryOf.total[cursor], colors.focus, '');
  drawMarker(context, frame, plan.start[first + peak], memoryOf.total[peak], colors.peak, 'peak ' + bytesText(memoryOf.total[peak]));
  fillMemory(plan, first);
}

function fillMemory(plan, first) {
  const at = memoryCursor.op >= 0 ? memoryCursor.op : memoryOf.peak, d = plan.devices[picked.row], cap = memoryCap(plan);
  byId('memory-readout').textContent = (memoryCursor.op >= 0 ? 'While ' : 'Peak: while ') + opName(plan, first + at) +
    ' runs, from ' + timeText(plan.start[first + at]) + ', rank ' + d.rank +
    (plan.meta.cp > 1 ? ', the fullest of its CP ranks,' : '') + ' holds ' + bytesText(memoryOf.total[at]) +
    '; the cap is ' + bytesText(cap) + (cap !== null && cap <= memoryMost(plan) ? ' (dashed)' : '') +
    '. At most ' + plural(d.liveTokens, 'live token') + '.';
  const table = byId('memory-table'), head = document.createElement('thead'), body = document.createElement('tbody');
  fillRow(head, ['kind', 'at the peak', 'at the cursor'], 'th');
  KINDS.forEach((kind, k) => {
    const name = element('span'), swatch = name.appendChild(element('i', '', 'swatch'));
    swatch.style.background = colors['mem-' + kind];
    name.append(KIND_TEXT[k]);
    fillRow(body, [name, bytesText(memoryOf.kinds[k][memoryOf.peak]), bytesText(memoryOf.kinds[k][at])]);
  });
  fillRow(body, ['all', bytesText(memoryOf.total[memoryOf.peak]), bytesText(memoryOf.total[at])]).className = 'own';
  table.replaceChildren(head, body);
}

function moveMemoryCursor(plan, op) {
  memoryCursor.op = op < 0 ? -1 : Math.min(op, plan.meta.ops - 1);
  askDraw(plan);
}

function onMemoryMove(plan, event) {
  const box = byId('memory').getBoundingClientRect(), first = picked.row * plan.meta.ops;
  const t = (event.clientX - box.left - MEMORY_LEFT) / Math.max(1, view.width ? box.width - MEMORY_LEFT - 8 : 1) * plan.makespan;
  const next = firstAbove(plan.start, first, first + plan.meta.ops, t) - 1 - first;
  moveMemoryCursor(plan, Math.max(0, next));
}

function onMemoryKey(plan, event) {
  const at = memoryCursor.op >= 0 ? memoryCursor.op : memoryOf.peak, step = event.shiftKey ? 10 : 1;
  if (event.key === 'ArrowLeft') moveMemoryCursor(plan, Math.max(0, at - step));
  else if (event.key === 'ArrowRight') moveMemoryCursor(plan, at + step);
  else if (event.key === 'Home' || event.key === 'Escape') moveMemoryCursor(plan, -1);
  else return;
  event.preventDefault();
}

function listenMemory(plan) {
  const canvas = byId('memory'), select = byId('rank');
  select.replaceChildren(...Array.from({ length: plan.rows }, (_, row) => {
    const option = element('option', placeText(plan, row));
    option.value = String(row);
    return option;
  }));
  select.addEventListener('change', () => selectRow(plan, Number(select.value)));
  byId('memory-none').hidden = plan.devices.length > 0;
  byId('memory-body').hidden = plan.devices.length === 0;
  if (plan.devices.length === 0) {
    byId('memory-none').textContent = 'Without a model and a device that are known there is no memory over time.';
    byId('memory-body').style.display = 'none';
    return;
  }
  canvas.addEventListener('pointermove', (event) => onMemoryMove(plan, event));
  canvas.addEventListener('pointerleave', () => moveMemoryCursor(plan, -1));
  canvas.addEventListener('keydown', (event) => onMemoryKey(plan, event));
}
