/* Numbers in units that a person reads at a glance, and small helpers of the document. */

function scaled(value, names) {
  let i = 0, rest = Math.abs(value);
  while (rest >= 999.95 && i + 1 < names.length) { rest /= 1000; i++; }
  const decimals = i === 0 ? 0 : rest >= 99.995 ? 1 : rest >= 9.9995 ? 2 : 3;
  return (value < 0 ? '-' : '') + rest.toFixed(decimals) + '\u00a0' + names[i];
}

function timeText(ps) { return scaled(ps, ['ps', 'ns', '\u00b5s', 'ms', 's']); }
function bytesText(bytes) { return bytes === null ? 'no limit' : scaled(bytes, ['B', 'kB', 'MB', 'GB', 'TB']); }
function countText(count) { return String(Math.round(count)).replace(/\B(?=(\d{3})+$)/g, ','); }
function percentText(ppm) { return (ppm / 1e4).toFixed(2) + '\u00a0%'; }
function ratioText(ppm) { return (ppm / 1e6).toFixed(4); }
function plural(count, word) { return countText(count) + ' ' + word + (count === 1 ? '' : 's'); }

function byId(id) { return document.getElementById(id); }

/* All text goes in as text: names from files are never taken for markup. */
function element(tag, text, className) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
}

function fillRow(table, cells, tag) {
  const row = table.appendChild(document.createElement('tr'));
  for (const cell of cells) {
    const made = row.appendChild(document.createElement(tag || 'td'));
    if (cell instanceof Node) made.appendChild(cell);
    else made.textContent = cell;
    if (tag === 'th') made.scope = 'col';
  }
  return row;
}

function fillLegend(list, items) {
  list.replaceChildren(...items.map(([color, text]) => {
    const item = document.createElement('li');
    const swatch = item.appendChild(document.createElement('span'));
    swatch.style.background = color;
    item.append(text);
    return item;
  }));
}

/* The first index in [from, to) whose value is above a limit; the list ascends. */
function firstAbove(list, from, to, limit) {
  while (from < to) {
    const middle = (from + to) >> 1;
    if (list[middle] > limit) to = middle; else from = middle + 1;
  }
  return from;
}
