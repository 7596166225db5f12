"""train_torch.py - a tiny GPT that is trained by plans, and gets the losses of plain training.

    PYTHONPATH=src/python python3 docs/examples/train_torch.py ["dp=2 pp=2"]

Starts a process for each rank of DP x PP x CP (PyTorch on CPUs, gloo), or is one of torchrun's.
Trains 20 steps on texts of very different length by plans, with slices, packs and merges; then
rank 0 trains the same model alone on whole samples. Fails when losses differ by more than 1e-6.

How the contract of docs/integration.md is kept:
- forward of slice [a, b): its queries attend to keys [0, b). Those before a come from the
  sample's cache, cut off from the graphs of the slices that made them;
- each slice keeps its own graph, since backward packs group slices differently. Its backward
  starts from the gradients of its output and, as collected from all later slices, of its keys
  and values; what it adds to keys before a is collected for earlier slices.
"""

import os
import random
import sys
import tempfile
from pathlib import Path

import slimpack
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

STEPS, SAMPLES, LAYERS, WIDTH, HEADS, LONGEST = 20, 10, 4, 32, 4, 320
TEXT = b"".join(p.read_bytes() for p in sorted(Path(__file__).parents[1].glob("*.md")))


def batch_of(step):
    """Texts of one step, the same on every rank; a byte more than tokens, the last target."""
    draw = random.Random(step)
    lengths = [min(LONGEST, 1 + int(draw.lognormvariate(3, 1))) for _ in range(SAMPLES)]
    lengths[draw.randrange(SAMPLES)] = draw.randrange(LONGEST // 2, LONGEST)
    starts = [draw.randrange(len(TEXT) - n) for n in lengths]
    return [torch.tensor(list(TEXT[a : a + n + 1])) for a, n in zip(starts, lengths)]


# ---- the model: a stage holds some of the layers


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.qkv = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 3 * WIDTH)
        self.out, up, down = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, 128), nn.Linear(128, WIDTH)
        self.mlp = nn.Sequential(nn.LayerNorm(WIDTH), up, nn.GELU(), down)

    def forward(self, x, position, cached, exchange):
        """x: [n, WIDTH] tokens at these positions. cached: K and V [2, a, WIDTH] before the
        slice. exchange: makes those of the whole slice. Returns x and the slice's K and V."""
        q, k, v = self.qkv(self.norm(x)).chunk(3, dim=-1)
        kv = exchange(torch.stack([k, v]))
        k, v = torch.cat([cached, kv], dim=1)
        q, k, v = (t.view(len(t), HEADS, WIDTH // HEADS).transpose(0, 1) for t in (q, k, v))
        score = q @ k.transpose(1, 2) / q.shape[-1] ** 0.5
        later = torch.arange(k.shape[1]) > position[:, None]  # bottom right, whatever a is
        y = score.masked_fill(later, -torch.inf).softmax(-1) @ v
        x = x + self.out(y.transpose(0, 1).reshape(x.shape))
        return x + self.mlp(x), kv


class Stage(nn.Module):
    """Layers of stage pp of all; the first embeds tokens, the last tells the loss."""

    def __init__(self, pp, stages):
        super().__init__()
        torch.manual_seed(0)  # every rank makes all and keeps its blocks
        self.token, self.position = nn.Embedding(256, WIDTH), nn.Embedding(LONGEST, WIDTH)
        blocks = [Block() for _ in range(LAYERS)]
        self.head = nn.Linear(WIDTH, 256)
        self.blocks = nn.ModuleList(blocks[LAYERS * pp // stages : LAYERS * (pp + 1) // stages])
        self.double()

    def embed(self, token, position):
        return self.token(token) + self.position(position)

    def empty(self):  # the cache of each layer before the first slice
        return [torch.zeros(2, 0, WIDTH, dtype=torch.double) for _ in self.blocks]

    def forward(self, x, position, caches, exchange=lambda kv: kv):
        kvs = []
        for block, cached in zip(self.blocks, caches):
            x, kv = block(x, position, cached, exchange)
            kvs.append(kv)
        return x, kvs

    def loss(self, x, target):
        """Sum over tokens: packs hold different token counts, so no mean of means."""
        return F.cross_entropy(self.head(x), target, reduction="sum")


# ---- what ranks say to each other


class Exchange(torch.autograd.Function):
    """K and V of a slice from all shards of a group, and their gradients back. Sums of rows
    that others leave zero stand for a real framework's gather and scatter."""

    @staticmethod
    def forward(ctx, kv, rows, length, group):
        ctx.rows, ctx.group = rows, group
        whole = kv.new_zeros(2, length, WIDTH)
        whole[:, rows] = kv
        dist.all_reduce(whole, group=group)
        return whole

    @staticmethod
    def backward(ctx, d_whole):
        d_whole = d_whole.clone()
        dist.all_reduce(d_whole, group=ctx.group)
        return d_whole[:, ctx.rows], None, None, None


def make_groups(groups, topology, windows):
    """Process groups of a stage in consecutive replicas. All ranks make all, in one order."""
    for first, replicas in windows:
        for pp in range(topology.degrees.pp):
            if (first, replicas, pp) not in groups:
                dps, cps = range(first, first + replicas), range(topology.degrees.cp)
                ranks = [topology.rank(dp=dp, pp=pp, cp=cp) for dp in dps for cp in cps]
                groups[first, replicas, pp] = ranks, dist.new_group(ranks)


# ---- one rank's share of a step


def share_of(pack, sample, start, end):
    """What a rank has of a slice: rows of its pack, and their positions in the sample; or none."""
    rows, position = [], []
    for j in range(pack.count):
        if pack.sample[j] == sample and start <= pack.start[j] < end:
            shard = range(pack.cu_seqlens_q[j], pack.cu_seqlens_q[j + 1])
            rows += shard
            position += [int(pack.start[j]) + i for i in range(len(shard))]
    return torch.tensor(rows, dtype=torch.long), torch.tensor(position, dtype=torch.long)


class Step:
    """Runs the ops of one rank for one plan."""

    def __init__(self, stage, plan, rank, topology, groups, batch):
        self.stage, self.plan, self.rank, self.groups, self.batch = stage, plan, rank, groups, batch
        self.at, self.tokens = topology.coordinates(rank), plan.stats.tokens
        self.first, self.last = self.at.pp == 0, self.at.pp == topology.degrees.pp - 1
        self.cache, self.d_cache = {}, {}  # sample -> K and V of each layer, their gradients
        self.graphs = {}  # (sample, start) -> what the slice's backward wants
        self.loss, self.sent = torch.zeros((), dtype=torch.double), []

    def run(self):
        for op in self.plan.ops(self.rank):
            if op.pass_ == slimpack.WEIGHT:
                continue  # autograd computed them along with the gradients of the inputs
            pack = self.plan.pack(self.rank, op.pass_, op.pack)
            rows = torch.empty(op.recv_tokens, WIDTH, dtype=torch.double)
            if op.recv_tokens > 0:
                dist.recv(rows, op.recv_rank, tag=op.pass_)
            run = self.forward if op.pass_ == slimpack.FORWARD else self.backward
            rows = run(op, pack, rows)
            if op.send_tokens > 0:
                self.sent.append((dist.isend(rows, op.send_rank, tag=op.pass_), rows))
        for request, _ in self.sent:
            request.wait()
        return self.loss

    def slices(self, op, pack):
        """Slices of a pack in the order to run, and this rank's share of each."""
        view = self.plan.pack_slices(self.at.dp, op.pass_, op.pack)
        for sample, start, length in zip(view.sample, view.start, view.length):
            where = int(sample), int(start), int(start + length)
            yield (*where, *share_of(pack, *where))

    def exchange(self, op, position, sample, start, end):
        """How K and V of a slice become those of its group; None where a sample stands whole
        on another rank. A whole one exchanges nothing."""
        first, replicas = self.plan.merges[op.merge][1:] if op.merge >= 0 else (self.at.dp, 1)
        ranks, group = self.groups[first, replicas, self.at.pp]
        packs = [self.plan.pack(rank, op.pass_, op.pack) for rank in ranks]
        owners = sum(len(share_of(pack, sample, start, end)[0]) > 0 for pack in packs)
        if end - start == len(self.batch[sample]) - 1 and owners == 1:
            return (lambda kv: kv) if len(position) > 0 else None
        return lambda kv: Exchange.apply(kv, position - start, end - start, group)

    def forward(self, op, pack, received):
        y = torch.empty(pack.tokens, WIDTH, dtype=torch.double)
        for sample, a, b, rows, position in self.slices(op, pack):
            exchange, text = self.exchange(op, position, sample, a, b), self.batch[sample]
            if exchange is None:
                continue
            leaf = None if self.first else received[rows].requires_grad_()
            x = self.stage.embed(text[position], position) if self.first else leaf
            caches = [c.requires_grad_() for c in self.cache.get(sample, self.stage.empty())]
            x, kvs = self.stage(x, position, caches, exchange)
            self.cache[sample] = [torch.cat(c, dim=1).detach() for c in zip(caches, kvs)]
            if self.last:
                x = self.stage.loss(x, text[position + 1]) / self.tokens
                self.loss += x.detach()
            else:
                y[rows] = x.detach()
            self.graphs[sample, a] = leaf, x, caches, kvs
        return y

    def backward(self, op, pack, received):
        d_y = torch.empty(pack.tokens, WIDTH, dtype=torch.double)
        for sample, a, b, rows, _ in self.slices(op, pack):
            if (sample, a) not in self.graphs:
                continue
            leaf, x, caches, kvs = self.graphs.pop((sample, a))
            zeros = [torch.zeros_like(c) for c in self.cache[sample]]
            d_cache = self.d_cache.setdefault(sample, zeros)
            d_x = torch.ones_like(x) if self.last else received[rows]
            # Those of [a, b) are complete: all later slices have run backward.
            torch.autograd.backward([x, *kvs], [d_x, *(d[:, a:b] for d in d_cache)])
            for d, cached in zip(d_cache, caches):
                d[:, :a] += cached.grad
            if not self.first:
                d_y[rows] = leaf.grad
            if a == 0:
                del self.cache[sample], self.d_cache[sample]
        return d_y


# ---- training


def train(rank, topology):
    """Trains by plans; of each step its loss, the slices and the merges of its plan."""
    degrees, at = topology.degrees, topology.coordinates(rank)
    model = slimpack.Model(
        "llama2-7b", layers=LAYERS, hidden=WIDTH, heads=HEADS, kv_heads=HEADS, vocab=256,
        head_dim=WIDTH // HEADS, ffn_hidden=128, gated=False,
    )  # fmt: skip
    planner = slimpack.Planner(topology, model, slimpack.Device("ideal"), max_packs=8, alignment=4)
    stage, groups, losses = Stage(at.pp, degrees.pp), {}, []
    for parameter in stage.parameters():  # a rank may have no tokens of a step
        parameter.grad = torch.zeros_like(parameter)
    optimizer = torch.optim.Adam(stage.parameters(), lr=3e-3)
    make_groups(groups, topology, [(0, degrees.dp), *((dp, 1) for dp in range(degrees.dp))])
    planner.submit([len(text) - 1 for text in batch_of(0)])
    for step in range(STEPS):
        plan = planner.collect()
        if step + 1 < STEPS:  # planned while this step runs
            planner.submit([len(text) - 1 for text in batch_of(step + 1)])
        most = torch.tensor([plan.digest - 2**63, ~(plan.digest - 2**63)])
        dist.all_reduce(most, dist.ReduceOp.MAX)
        assert most[0] == ~most[1], "ranks have planned from different inputs"
        make_groups(groups, topology, [merge[1:] for merge in plan.merges])

        loss = Step(stage, plan, rank, topology, groups, batch_of(step)).run()
        for parameter in stage.parameters():  # sums, no average: the loss has the weights
            dist.all_reduce(parameter.grad, group=groups[0, degrees.dp, at.pp][1])
        optimizer.step()
        optimizer.zero_grad(set_to_none=False)
        dist.all_reduce(loss)
        losses.append((loss.item(), plan.stats.slices, plan.stats.merges))
    return losses


def train_plain():
    """Losses of the same steps, by whole samples."""
    model, losses = Stage(0, 1), []
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for step in range(STEPS):
        batch, loss = batch_of(step), 0
        for text in batch:
            position = torch.arange(len(text) - 1)
            x, _ = model(model.embed(text[:-1], position), position, model.empty())
            loss = loss + model.loss(x, text[1:]) / sum(len(text) - 1 for text in batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def worker(rank, line, init):
    torch.set_num_threads(1)
    topology = slimpack.Topology(line)
    dist.init_process_group("gloo", init_method=init, rank=rank, world_size=topology.size)
    losses = train(rank, topology)
    dist.barrier()
    if rank == 0:
        print("step  slices  merges  loss by plans   plain           relative difference")
        for step, ((a, slices, merges), b) in enumerate(zip(losses, train_plain())):
            print(f"{step:4}  {slices:6}  {merges:6}  {a:.12f}  {b:.12f}  {abs(a - b) / b:.1e}")
            assert abs(a - b) <= 1e-6 * b, "the losses differ"


if __name__ == "__main__":
    line = sys.argv[1] if len(sys.argv) > 1 else "dp=2"
    ranks = slimpack.Topology(line)
    if ranks.degrees.tp > 1 or ranks.degrees.pp > LAYERS:
        sys.exit(f"train_torch.py: {line}: tp is 1 here, and pp at most {LAYERS}")
    if "RANK" in os.environ:
        worker(int(os.environ["RANK"]), line, "env://")
    else:
        with tempfile.TemporaryDirectory() as work:
            torch.multiprocessing.spawn(worker, (line, f"file://{work}/meeting"), ranks.size)
