/* Wheel, pointer and keys on the timeline. A change asks for one drawing at the next
   frame, however many events come before it. */

let drawAsked = false;

function askDraw(plan) {
  if (drawAsked) return;
  drawAsked = true;
  requestAnimationFrame(() => { drawAsked = false; drawTimeline(plan); drawMemory(plan); });
}

function fillLines(box, lines) {
  box.replaceChildren(...lines.map((text, i) => element(i === 0 ? 'b' : 'div', text)));
}

/* Beside the pointer, on the side where there is room. */
function showTooltip(plan, hit, x, y) {
  const box = byId('tooltip'), frame = byId('timeline');
  box.hidden = hit === null;
  if (hit === null) return;
  fillLines(box, describe(plan, hit));
  const right = x + 16 + box.offsetWidth <= frame.clientWidth, below = y + 16 + box.offsetHeight <= frame.clientHeight + 60;
  box.style.left = Math.max(0, right ? x + 16 : x - 12 - box.offsetWidth) + 'px';
  box.style.top = (below ? y + 16 : y - 12 - box.offsetHeight) + 'px';
}

function selectOp(plan, i) {
  picked.op = i;
  if (i >= 0) {
    fillLines(byId('details'), describeOp(plan, i));
    selectRow(plan, Math.floor(i / plan.meta.ops));
  } else {
    byId('details').textContent = 'No op is selected.';
  }
  askDraw(plan);
}

function selectRow(plan, row) {
  if (row === picked.row) return;
  picked.row = row;
  byId('rank').value = String(row);
  memoryCursor.op = -1;
  markLoad(plan);
  askDraw(plan);
}

function onWheel(plan, event) {
  const box = byId('timeline').getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top;
  const lines = event.deltaMode === 1 ? 30 : 1, by = (event.deltaY || event.deltaX) * lines;
  event.preventDefault();
  if (event.ctrlKey || event.altKey) zoomRows(plan, Math.exp(-by / 400), y);
  else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) pan(plan, (event.deltaX || by) * lines, 0);
  else zoomTime(plan, Math.exp(Math.max(-1, Math.min(1, by / 400))), x);
  showTooltip(plan, null);
  askDraw(plan);
}

/* A press that moves is a drag, one that does not selects. */
const drag = { on: false, moved: false, x: 0, y: 0, bar: false };

function onDown(plan, event) {
  const canvas = byId('timeline');
  if (event.button !== 0) return;
  Object.assign(drag, { on: true, moved: false, x: event.clientX, y: event.clientY,
    bar: event.clientX - canvas.getBoundingClientRect().left > view.width - SCROLLBAR - 2 });
  try { canvas.setPointerCapture(event.pointerId); } catch { /* a pointer that is gone */ }
}

function onMove(plan, event) {
  const canvas = byId('timeline'), box = canvas.getBoundingClientRect();
  if (!drag.on) {
    showTooltip(plan, hitTest(plan, event.clientX - box.left, event.clientY - box.top), event.clientX - box.left, event.clientY - box.top);
    return;
  }
  const dx = drag.x - event.clientX, dy = drag.y - event.clientY;
  if (!drag.moved && Math.abs(dx) + Math.abs(dy) < 4) return;
  drag.moved = true;
  canvas.classList.add('dragging');
  if (drag.bar) pan(plan, 0, -dy * plan.rows * view.rowHeight / plotHeight());
  else pan(plan, dx, dy);
  Object.assign(drag, { x: event.clientX, y: event.clientY });
  showTooltip(plan, null);
  askDraw(plan);
}

function onUp(plan, event) {
  const canvas = byId('timeline'), box = canvas.getBoundingClientRect();
  const clicked = drag.on && !drag.moved;
  drag.on = false;
  canvas.classList.remove('dragging');
  if (!clicked) return;
  const x = event.clientX - box.left, y = event.clientY - box.top, hit = hitTest(plan, x, y);
  if (hit && hit.inside) selectOp(plan, hit.op);
  else if (y > AXIS && rowOfY(y) < plan.rows) { selectOp(plan, -1); selectRow(plan, rowOfY(y)); }
}

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/* The first op in view, for keys when none is selected. */
function opInView(plan) {
  const row = Math.min(plan.rows - 1, Math.max(picked.row, rowOfY(AXIS)));
  const hit = opAtTime(plan, row, view.t0);
  return hit.op >= 0 ? hit.op : row * plan.meta.ops;
}

function onArrow(plan, event) {
  const [dx, dy] = ARROWS[event.key];
  if (event.shiftKey) {
    selectOp(plan, picked.op < 0 ? opInView(plan) : neighbour(plan, picked.op, dx, dy));
    reveal(plan, picked.op);
  } else {
    pan(plan, dx * plotWidth() / 10, dy * Math.max(view.rowHeight, plotHeight() / 10));
  }
}

const TIMELINE_KEYS = {
  '+': (plan) => zoomTime(plan, 0.5),
  '=': (plan) => zoomTime(plan, 0.5),
  '-': (plan) => zoomTime(plan, 2),
  _: (plan) => zoomTime(plan, 2),
  0: (plan) => resetView(plan, true),
  t: (plan) => zoomRows(plan, 1.5),
  s: (plan) => zoomRows(plan, 1 / 1.5),
  PageUp: (plan) => pan(plan, 0, -plotHeight()),
  PageDown: (plan) => pan(plan, 0, plotHeight()),
  Home: (plan) => pan(plan, -1e6 * plotWidth(), 0),
  End: (plan) => pan(plan, 1e6 * plotWidth(), 0),
  Enter: (plan) => { if (picked.op >= 0) zoomToOp(plan, picked.op); },
  Escape: (plan) => { selectOp(plan, -1); showTooltip(plan, null); },
};

function onTimelineKey(plan, event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (ARROWS[event.key]) onArrow(plan, event);
  else if (TIMELINE_KEYS[event.key]) TIMELINE_KEYS[event.key](plan);
  else return;
  event.preventDefault();
  askDraw(plan);
}

function listenTimeline(plan) {
  const canvas = byId('timeline');
  canvas.addEventListener('wheel', (event) => onWheel(plan, event), { passive: false });
  canvas.addEventListener('pointerdown', (event) => onDown(plan, event));
  canvas.addEventListener('pointermove', (event) => onMove(plan, event));
  canvas.addEventListener('pointerup', (event) => onUp(plan, event));
  canvas.addEventListener('pointercancel', () => { drag.on = false; });
  canvas.addEventListener('pointerleave', () => showTooltip(plan, null));
  canvas.addEventListener('keydown', (event) => onTimelineKey(plan, event));
  const buttons = { 'zoom-in': '+', 'zoom-out': '-', fit: '0', taller: 't', flatter: 's' };
  for (const id of Object.keys(buttons))
    byId(id).addEventListener('click', () => { TIMELINE_KEYS[buttons[id]](plan); askDraw(plan); });
}
