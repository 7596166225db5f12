/* What the pause before each op waits for. Up to `ready` the stage has nothing to run:
   bubble. From there to `barrier` other replicas of a merge are not ready; from there to
   the start the input is on its way. */

/* Ops by what they are, to find the one that sends to another. */
function indexOps(plan) {
  const m = plan.meta, most = Math.max(m.forwardPacks, m.backwardPacks), stages = m.pp * m.chunks;
  plan.opAt = new Int32Array(m.dp * stages * 2 * most).fill(-1);
  plan.opSlot = (dp, stage, pass, pack) => ((dp * stages + stage) * 2 + pass) * most + pack;
  for (let row = 0; row < plan.rows; row++) {
    const dp = Math.floor(row / m.pp), pp = row % m.pp;
    for (let i = row * m.ops; i < (row + 1) * m.ops; i++)
      if (plan.pass[i] !== WEIGHT)
        plan.opAt[plan.opSlot(dp, plan.chunk[i] * m.pp + pp, plan.pass[i], plan.pack[i])] = i;
  }
}

/* The op whose output op i takes (step 1) or that takes its output (step -1), or -1. */
function peerOf(plan, i, step) {
  const m = plan.meta, row = Math.floor(i / m.ops), pass = plan.pass[i];
  if (pass === WEIGHT) return -1;
  const stage = plan.chunk[i] * m.pp + row % m.pp + (pass === FORWARD ? -step : step);
  if (stage < 0 || stage >= m.pp * m.chunks) return -1;
  return plan.opAt[plan.opSlot(Math.floor(row / m.pp), stage, pass, plan.pack[i])];
}

function findReady(plan) {
  const ops = plan.meta.ops, blocks = plan.meta.sendsBlock;
  plan.ready = new Float64Array(plan.start.length);
  for (let i = 0; i < plan.start.length; i++) {
    const before = i % ops > 0 ? plan.end[i - 1] : 0, sender = peerOf(plan, i, 1);
    if (sender >= 0) plan.ready[i] = Math.max(before, plan.end[sender]);
    else plan.ready[i] = blocks ? before : plan.start[i];
    plan.ready[i] = Math.min(plan.ready[i], plan.start[i]);
  }
}

/* The j-th pack of a merge in one replica meets the j-th in the others. */
function mergedPacks(plan, merge, pass) {
  const m = plan.meta, groups = [];
  for (let dp = merge.first; dp < merge.first + merge.replicas; dp++)
    for (let pack = 0, j = 0; pack < (pass === FORWARD ? m.forwardPacks : m.backwardPacks); pack++)
      if (plan.merges[plan.packMerge[packIndex(plan, dp, pass, pack)]] === merge)
        (groups[j] = groups[j++] || []).push([dp, pack]);
  return groups;
}

function findBarriers(plan) {
  const stages = plan.meta.pp * plan.meta.chunks;
  plan.barrier = plan.ready.slice();
  for (const merge of plan.merges)
    for (let pass = FORWARD; pass <= BACKWARD; pass++)
      for (const group of mergedPacks(plan, merge, pass))
        for (let stage = 0; stage < stages; stage++) {
          const ops = group.map(([dp, pack]) => plan.opAt[plan.opSlot(dp, stage, pass, pack)]);
          const last = Math.max(...ops.map((i) => plan.ready[i]));
          for (const i of ops) plan.barrier[i] = Math.min(last, plan.start[i]);
        }
}

function findWaits(plan) {
  indexOps(plan);
  findReady(plan);
  findBarriers(plan);
}

function mergeOf(plan, i) {
  const dp = Math.floor(Math.floor(i / plan.meta.ops) / plan.meta.pp);
  return plan.packMerge[packIndex(plan, dp, plan.pass[i], plan.pack[i])];
}
