"""trace.py TRACE PLAN - holds a Chrome trace against the plan file that it shows.

Checks the fields of every event by its phase, that ops of a thread do not overlap, that
each flow has one start and one end, in this order and within an op each, that every
process has a name, and that ops, their times, packs and hand-overs are those of the plan.
Prints what is wrong first and exits 1, or prints the counts. Times are compared as
integers of picoseconds.
"""
import json
import sys
from decimal import Decimal

FIELDS = {'M': {'name', 'args'}, 'X': {'name', 'cat', 'ts', 'dur', 'args'},
          's': {'name', 'cat', 'ts', 'id', 'bp'}, 'f': {'name', 'cat', 'ts', 'id', 'bp'},
          'C': {'name', 'ts', 'args'}}


def fail(text):
    print(text)
    sys.exit(1)


def ps(value, where):
    if not isinstance(value, Decimal) or value < 0 or value.as_tuple().exponent != -6:
        fail('%s: %r is no time in microseconds with six digits' % (where, value))
    return int(value * 1000000)


def check_fields(i, event):
    where = 'event %d' % i
    phase = event.get('ph')
    if phase not in FIELDS:
        fail('%s: phase %r' % (where, phase))
    if set(event) != FIELDS[phase] | {'ph', 'pid', 'tid'}:
        fail('%s: fields %s of phase %s' % (where, sorted(event), phase))
    if not isinstance(event['pid'], int) or not isinstance(event['tid'], int):
        fail('%s: pid and tid are no integers' % where)
    if 'ts' in event:
        event['ts'] = ps(event['ts'], where)
    if 'dur' in event:
        event['dur'] = ps(event['dur'], where)
    if phase in 'sf' and event['bp'] != 'e':
        fail('%s: bp is %r' % (where, event['bp']))


def by_phase(events):
    phases = {phase: [] for phase in FIELDS}
    for i, event in enumerate(events):
        check_fields(i, event)
        phases[event['ph']].append(event)
    return phases


def threads(slices):
    lists = {}
    for event in slices:
        lists.setdefault((event['pid'], event['tid']), []).append(event)
    for key, ops in lists.items():
        ops.sort(key=lambda op: (op['ts'], op['dur']))
        for before, op in zip(ops, ops[1:]):
            if op['ts'] < before['ts'] + before['dur']:
                fail('pid %d: %s overlaps %s' % (key[0], op['name'], before['name']))
    return lists


def check_names(phases, pids):
    named = {e['pid']: e['args']['name'] for e in phases['M'] if e['name'] == 'process_name'}
    order = {e['pid'] for e in phases['M'] if e['name'] == 'process_sort_index'}
    if set(named) != pids or order != pids:
        fail('processes with a name or an order are not those with ops')
    if len(set(named.values())) != len(named):
        fail('two processes have one name')
    return named


def check_flows(phases, lists):
    starts = {e['id']: e for e in phases['s']}
    ends = {e['id']: e for e in phases['f']}
    if len(starts) != len(phases['s']) or len(ends) != len(phases['f']) or set(starts) != set(ends):
        fail('flows do not pair: %d starts, %d ends' % (len(phases['s']), len(phases['f'])))
    for number, start in starts.items():
        end = ends[number]
        if start['ts'] > end['ts']:
            fail('flow %d ends before it starts' % number)
        pairs = [(a, b) for a in around(lists, start) for b in around(lists, end)
                 if a['name'] == b['name'] and a['pid'] != b['pid']]
        if not any(end['ts'] == b['ts'] and a['ts'] + a['dur'] <= end['ts'] for a, b in pairs):
            fail('flow %d does not go from an op to its start on another stage' % number)


# Several: an op without tokens takes no time and shares its start with the next.
def around(lists, event):
    found = [op for op in lists[event['pid'], event['tid']]
             if op['ts'] <= event['ts'] <= op['ts'] + op['dur']]
    if not found:
        fail('flow %d lies in no op' % event['id'])
    return found


def check_counters(phases, pids, kinds=8):
    for event in phases['C']:
        if event['pid'] not in pids or len(event['args']) != kinds:
            fail('counter of pid %d: %r' % (event['pid'], event['args']))
        if any(not isinstance(v, int) or v < 0 for v in event['args'].values()):
            fail('counter of pid %d is no bytes' % event['pid'])


def plan_ops(plan):
    ops = {}
    for replica in plan['replicas']:
        for stage in replica['stages']:
            name = 'dp%d pp%d' % (replica['dp'], stage['pp'])
            ops[name] = sorted((op[2], op[3], '%s%d' % (op[0], op[1])) for op in stage['ops'])
    return ops


def check_plan(plan, lists, names, phases):
    want = plan_ops(plan)
    have = {names[pid]: sorted((op['ts'], op['ts'] + op['dur'], op['name']) for op in ops)
            for (pid, _), ops in lists.items()}
    if want != have:
        fail('the ops are not those of the plan')
    stages = plan['topology']['pp'] * plan.get('virtual_stages', 1)
    packs = len(plan['replicas'][0]['forward']) + len(plan['replicas'][0]['backward'])
    flows = plan['topology']['dp'] * (stages - 1) * packs
    if len(phases['s']) != flows:
        fail('%d flows, but the plan has %d hand-overs' % (len(phases['s']), flows))
    for key in ('tokens', 'slices', 'pack', 'merge', 'chunk'):
        if any(not isinstance(op['args'].get(key), int) for op in phases['X']):
            fail('an op without %s' % key)
    tokens = sum(op['args']['tokens'] for op in phases['X'] if op['name'][0] == 'F')
    if tokens != sum(plan['samples']) * stages:
        fail('forward ops hold %d tokens' % tokens)


def main():
    with open(sys.argv[1]) as file:
        trace = json.load(file, parse_float=Decimal)
    with open(sys.argv[2]) as file:
        plan = json.load(file)
    if trace.get('displayTimeUnit') not in ('ms', 'ns') or \
            not isinstance(trace['traceEvents'], list):
        fail('no object with traceEvents and displayTimeUnit')
    phases = by_phase(trace['traceEvents'])
    lists = threads(phases['X'])
    pids = {pid for pid, _ in lists}
    names = check_names(phases, pids)
    check_counters(phases, pids)
    check_plan(plan, lists, names, phases)
    check_flows(phases, lists)
    print(' '.join('%s=%d' % (phase, len(list_)) for phase, list_ in phases.items()))


main()
