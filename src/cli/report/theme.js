/* Light and dark: as the system says until the button is used. */

const colors = {};
let themeChoice = 'system';

function rgbOf(hex) {
  return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
}

function readColors() {
  const style = getComputedStyle(document.documentElement);
  const names = ['ground', 'panel', 'ink', 'soft', 'line', 'lane', 'lane-other', 'forward', 'backward',
    'weight', 'handover', 'mergewait', 'bubble', 'on-forward', 'on-backward', 'on-weight', 'peak', 'focus'];
  for (const name of names.concat(KINDS.map((kind) => 'mem-' + kind)))
    colors[name] = style.getPropertyValue('--' + name).trim();
}

function applyTheme() {
  const dark = themeChoice === 'dark' ||
    (themeChoice === 'system' && matchMedia('(prefers-color-scheme: dark)').matches);
  document.documentElement.toggleAttribute('data-dark', dark);
  byId('theme').textContent = 'Colours: ' + themeChoice;
  readColors();
}

function nextTheme() {
  const order = ['system', 'light', 'dark'];
  themeChoice = order[(order.indexOf(themeChoice) + 1) % order.length];
}

/* A canvas as large as it is shown, in pixels of the screen. */
function fitCanvas(canvas, height) {
  const ratio = window.devicePixelRatio || 1, width = Math.max(1, canvas.clientWidth);
  if (height) canvas.style.height = height + 'px';
  const w = Math.round(width * ratio), h = Math.round((height || canvas.clientHeight) * ratio);
  if (canvas.width !== w || canvas.height !== h) { canvas.width = w; canvas.height = h; }
  return { ratio, width: w / ratio, height: h / ratio };
}

/* Round steps of an axis: 1, 2 or 5 times a power of ten, at least `least` each. */
function niceStep(least) {
  const power = Math.pow(10, Math.floor(Math.log10(Math.max(least, 1))));
  for (const factor of [1, 2, 5, 10]) if (factor * power >= least) return factor * power;
  return 10 * power;
}

/* A tick in the axis's one unit, which the largest tick gives; no more digits than the step has. */
function tickText(value, step, most, names) {
  let unit = 1, i = 0;
  while (most / unit >= 1000 && i + 1 < names.length) { unit *= 1000; i++; }
  const decimals = Math.max(0, Math.ceil(-Math.log10(step / unit) - 1e-9));
  return (value / unit).toFixed(decimals) + ' ' + names[i];
}
