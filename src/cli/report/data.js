/* Reads what page_data.c wrote, in the same order. Rows are the stages, replica by
   replica: row dp * PP + pp has ops row * ops ... row * ops + ops - 1. */

const FORWARD = 0, BACKWARD = 1, WEIGHT = 2;
const PASS_LETTER = 'FBW', PASS_NAME = ['forward', 'backward', 'weight gradients'];
const KINDS = ['weights', 'gradients', 'optimizer', 'activations', 'kv', 'dkv', 'logits', 'buffers'];
const KIND_TEXT = ['weights', 'gradients', 'optimiser', 'activations', 'KV', 'dKV', 'logits', 'buffers'];

function makeReader(bytes, at) {
  return {
    bytes, at,
    take() {
      let value = 0, unit = 1, byte;
      do {
        byte = this.bytes[this.at++];
        value += (byte & 127) * unit;
        unit *= 128;
      } while (byte >= 128);
      return value;
    },
    takeSigned() {
      const folded = this.take();
      return folded % 2 === 0 ? folded / 2 : -(folded + 1) / 2;
    },
  };
}

function bytesOf(base64) {
  const text = atob(base64), bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

function readBatch(r, plan) {
  plan.lengths = new Float64Array(r.take());
  for (let i = 0; i < plan.lengths.length; i++) plan.lengths[i] = r.take();
  plan.merges = [];
  for (let left = r.take(); left > 0; left--)
    plan.merges.push({ sample: r.take(), first: r.take(), replicas: r.take() });
}

/* Packs of all replicas, forward before backward; slices lie behind each other. */
function readPacks(r, plan) {
  const m = plan.meta, perReplica = m.forwardPacks + m.backwardPacks, count = m.dp * perReplica;
  const slices = [];
  plan.packMerge = new Int32Array(count);
  plan.packTokens = new Float64Array(count);
  plan.packOwn = new Float64Array(count);
  plan.packSlices = new Float64Array(count + 1);
  for (let dp = 0, k = 0; dp < m.dp; dp++)
    for (let pass = FORWARD; pass <= BACKWARD; pass++) {
      const cursor = { sample: -1, at: 0 };
      for (let left = pass === FORWARD ? m.forwardPacks : m.backwardPacks; left > 0; left--, k++)
        readPack(r, plan, k, pass, cursor, slices);
    }
  plan.slices = Float64Array.from(slices);
}

function readPack(r, plan, k, pass, cursor, slices) {
  let left = r.take(), tokens = 0;
  plan.packMerge[k] = r.take() - 1;
  plan.packOwn[k] = plan.packMerge[k] >= 0 ? r.take() : -1;
  for (; left > 0; left--) {
    const sample = cursor.sample + r.takeSigned();
    if (sample !== cursor.sample) cursor.at = pass === FORWARD ? 0 : plan.lengths[sample];
    cursor.sample = sample;
    const from = cursor.at + r.takeSigned(), length = r.take();
    const start = pass === FORWARD ? from : from - length;
    cursor.at = pass === FORWARD ? from + length : start;
    slices.push(sample, start, length);
    tokens += length;
  }
  plan.packTokens[k] = tokens;
  if (plan.packOwn[k] < 0) plan.packOwn[k] = tokens;
  plan.packSlices[k + 1] = slices.length / 3;
}

function packIndex(plan, dp, pass, pack) {
  const m = plan.meta;
  return dp * (m.forwardPacks + m.backwardPacks) + (pass === FORWARD ? 0 : m.forwardPacks) + pack;
}

function readOps(r, plan) {
  const m = plan.meta, rows = m.dp * m.pp, total = rows * m.ops;
  plan.rows = rows;
  plan.rank = new Int32Array(rows);
  plan.start = new Float64Array(total);
  plan.end = new Float64Array(total);
  plan.pass = new Uint8Array(total);
  plan.chunk = new Uint8Array(total);
  plan.pack = new Int32Array(total);
  const state = { most: Math.max(m.forwardPacks, m.backwardPacks), kinds: 3 * m.chunks };
  for (let row = 0; row < rows; row++) readStage(r, plan, row, state);
}

function readStage(r, plan, row, state) {
  const m = plan.meta, kinds = state.kinds, next = new Int32Array(kinds), last = new Float64Array(kinds);
  let end = 0;
  if (row % m.pp === 0) state.before = new Float64Array(kinds * state.most).fill(-1);
  plan.rank[row] = r.take();
  for (let i = row * m.ops; i < (row + 1) * m.ops; i++) {
    const code = r.take(), kind = code % kinds, folded = Math.floor(code / kinds);
    const pack = next[kind] + (folded % 2 === 0 ? folded / 2 : -(folded + 1) / 2);
    const at = kind * state.most + pack;
    plan.start[i] = end + r.takeSigned();
    const duration = r.takeSigned() + (state.before[at] >= 0 ? state.before[at] : last[kind]);
    end = plan.end[i] = plan.start[i] + duration;
    plan.pass[i] = kind % 3;
    plan.chunk[i] = Math.floor(kind / 3);
    plan.pack[i] = pack;
    next[kind] = pack + 1;
    last[kind] = state.before[at] = duration;
  }
}

/* Memory stays packed until somebody looks at the stage. */
function readDevices(r, plan) {
  plan.devices = [];
  for (let row = 0; plan.meta.stats && row < plan.rows; row++) {
    const d = { rank: r.take(), forward: r.take(), backward: r.take(), weight: r.take(),
      communication: r.take(), bubble: r.take(), peakBytes: r.take(), liveTokens: r.take() };
    const size = r.take();
    d.memoryAt = r.at;
    r.at += size;
    plan.devices.push(d);
  }
}

/* Bytes of each kind while each op of a row runs: [kind][op]. */
function readMemory(plan, row) {
  const r = makeReader(plan.bytes, plan.devices[row].memoryAt), ops = plan.meta.ops;
  return KINDS.map(() => {
    const list = new Float64Array(ops).fill(r.take()), unit = r.take();
    for (let i = 1; i < ops && unit > 0; i++) list[i] = list[i - 1] + unit * r.takeSigned();
    return list;
  });
}

function readPlan() {
  const plan = { meta: JSON.parse(byId('meta').textContent) };
  plan.bytes = bytesOf(byId('data').textContent);
  const r = makeReader(plan.bytes, 0);
  readBatch(r, plan);
  readPacks(r, plan);
  readOps(r, plan);
  readDevices(r, plan);
  plan.makespan = 0;
  for (let row = 0; row < plan.rows; row++)
    plan.makespan = Math.max(plan.makespan, plan.end[(row + 1) * plan.meta.ops - 1]);
  return plan;
}
