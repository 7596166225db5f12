"""page.py CHROMIUM FOLDER - what pages of `slimpack report` do in a browser.

FOLDER holds small.html, merged.html, large.html and own.html of page.sh. Wheel, pointer
and keys are real input events; what the page then shows is asked of its own variables
(`view`, `picked`, `report`) and of the document. Prints a line a test, exits 1 if any fails.
"""
import os
import sys

from chromium import Chromium

SHIFT = 8
failed = 0


def check(name, condition, more=''):
    global failed
    print('[%s] %s' % ('       OK ' if condition else '  FAILED  ', name))
    if not condition:
        print('    %s' % (more,))
        failed += 1


def view(b):
    return b.run('({...view})')


def span(b):
    v = view(b)
    return v['t1'] - v['t0']


def place(b, selector):
    return b.run("(() => { const e = document.querySelector('%s'); e.scrollIntoView({block: 'center'});"
                 "const r = e.getBoundingClientRect(); return {x: r.left, y: r.top, w: r.width, h: r.height}; })()"
                 % selector)


def test_zoom_and_pan(b):
    at = place(b, '#timeline')
    x, y, whole = at['x'] + at['w'] / 2, at['y'] + 40, span(b)
    under = b.run('timeOfX(%f)' % (at['w'] / 2))
    b.wheel(x, y, -200)
    check('wheel_zooms_in', span(b) < 0.9 * whole, span(b))
    check('wheel_keeps_the_time_under_the_pointer',
          abs(b.run('timeOfX(%f)' % (at['w'] / 2)) - under) < 0.01 * whole)
    before = view(b)
    b.drag(x, y, x - 120, y)
    check('drag_pans', view(b)['t0'] > before['t0'] and abs(span(b) - (before['t1'] - before['t0'])) < 2)
    before = view(b)
    b.wheel(x, y, 100, SHIFT)
    check('wheel_with_shift_pans', view(b)['t0'] > before['t0'])
    for _ in range(60):
        b.wheel(x, y, 400)
    check('zooming_out_ends_at_the_whole_step', view(b)['t0'] == 0 and span(b) == whole)
    for _ in range(60):
        b.run('TIMELINE_KEYS["+"](report)')
    b.settle()
    check('zooming_in_ends_somewhere', span(b) >= 999, span(b))
    b.run('resetView(report, true); drawTimeline(report)')
    for selector, shrinks in (('#zoom-in', True), ('#zoom-out', False)):
        before, button = span(b), place(b, selector)
        b.click(button['x'] + 5, button['y'] + 5)
        check('button%s_works' % selector.replace('#', '_').replace('-', '_'),
              (span(b) < before) if shrinks else (span(b) > before))


def test_keys(b):
    b.run("byId('timeline').focus(); resetView(report, true); selectOp(report, -1)")
    whole = span(b)
    b.key('+')
    check('plus_zooms_in', span(b) < whole)
    t0 = view(b)['t0']
    b.key('ArrowRight')
    check('arrow_pans', view(b)['t0'] > t0)
    b.key('-')
    b.key('0')
    check('zero_shows_all', span(b) == whole)
    b.key('ArrowRight', SHIFT)
    first = b.run('picked.op')
    b.key('ArrowRight', SHIFT)
    check('shift_arrow_selects_the_next_op', first >= 0 and b.run('picked.op') == first + 1)
    row = b.run('Math.floor(picked.op / report.meta.ops)')
    b.key('ArrowDown', SHIFT)
    check('shift_arrow_goes_to_the_next_stage', b.run('Math.floor(picked.op / report.meta.ops)') == row + 1)
    check('memory_follows_the_selected_stage', b.run("Number(byId('rank').value)") == row + 1)
    text = b.run("byId('details').textContent")
    check('details_name_the_op', b.run('opName(report, picked.op)') in text and 'token' in text and 'slice' in text, text)
    b.key('Enter')
    check('enter_zooms_to_the_op', span(b) < whole and b.run('report.end[picked.op] <= view.t1 && report.start[picked.op] >= view.t0'))
    b.key('Escape')
    check('escape_lets_the_op_go', b.run('picked.op') == -1)
    b.key('0')


def test_focus(b):
    b.run("scrollTo(0, 0); document.querySelector('.skip').focus()")
    seen, outlined = [], True
    for _ in range(12):
        b.key('Tab')
        seen.append(b.run('document.activeElement.id || document.activeElement.className'))
        outlined = outlined and b.run("getComputedStyle(document.activeElement).outlineStyle !== 'none'")
    check('tab_reaches_all_controls', {'theme', 'zoom-in', 'zoom-out', 'fit', 'taller', 'flatter', 'timeline',
                                       'rank', 'memory'} <= set(seen), seen)
    check('focus_is_visible', outlined)
    check('controls_have_names', b.run(
        "[...document.querySelectorAll('button, select, canvas')].every((e) => (e.getAttribute('aria-label') || "
        "e.textContent).trim() !== '' || e.labels.length > 0)"))


def test_pointer(b):
    at = place(b, '#timeline')
    spot = b.run('(() => { const i = Math.floor(report.meta.ops / 2); return {op: i, x: (xOfTime(report.start[i]) + '
                 'xOfTime(report.end[i])) / 2, y: yOfRow(0) + view.rowHeight / 2}; })()')
    b.mouse('mouseMoved', at['x'] + spot['x'], at['y'] + spot['y'])
    b.settle()
    text = b.run("byId('tooltip').hidden ? '' : byId('tooltip').textContent")
    check('tooltip_describes_the_op', text.startswith(b.run('describeOp(report, %d)[0]' % spot['op'])), text)
    b.click(at['x'] + spot['x'], at['y'] + spot['y'])
    check('click_selects_the_op', b.run('picked.op') == spot['op'])
    b.mouse('mouseMoved', 2, 2)
    b.settle()
    check('tooltip_goes_with_the_pointer', b.run("byId('tooltip').hidden"))


def test_memory(b):
    b.run("selectRow(report, 1); byId('memory').focus()")
    b.settle()
    check('memory_has_the_peak_of_the_stage',
          b.run('memoryOf.row') == 1 and b.run('memoryOf.total[memoryOf.peak] === report.devices[1].peakBytes'))
    check('peak_of_all_stages_is_that_of_the_summary',
          b.run('Math.max(...report.devices.map((d) => d.peakBytes)) === report.meta.stats.peakBytes'))
    peak = b.run("byId('memory-readout').textContent")
    b.key('ArrowRight')
    check('keys_move_the_memory_cursor', b.run("byId('memory-readout').textContent") != peak and
          b.run('memoryCursor.op === Math.min(memoryOf.peak + 1, report.meta.ops - 1)'))
    check('memory_is_broken_down', b.run("byId('memory-table').tBodies[0].rows.length") == 9)
    b.key('Home')
    check('home_returns_to_the_peak', b.run("byId('memory-readout').textContent") == peak)


def test_panels(b):
    check('histogram_holds_every_sample', b.run(
        "[...byId('histogram').tBodies[0].rows].reduce((n, r) => n + Number(r.cells[1].textContent.replace(/,/g, '')), 0)"
        ' === report.lengths.length'))
    check('load_has_every_replica', b.run("byId('load').tBodies[0].rows.length === report.meta.dp"))
    check('load_holds_every_token', b.run(
        'Array.from({length: report.meta.dp}, (_, dp) => replicaTokens(report, dp)).reduce((a, x) => a + x, 0)'
        ' === total(report.lengths)'))
    check('times_of_a_device_add_up', b.run(
        'report.devices.every((d) => d.forward + d.backward + d.weight + d.communication + d.bubble === report.makespan)'))
    check('table_has_every_policy', b.run("byId('policies').tBodies[0].rows.length") == 5)


def test_data(b, name):
    check(name + '_ops_follow_each_other', b.run(
        'report.start.every((t, i) => t >= 0 && report.end[i] >= t && (i % report.meta.ops === 0 || report.end[i - 1] <= t))'))
    check(name + '_makespan_is_that_of_the_stats', b.run('report.makespan === report.meta.stats.makespan'))
    check(name + '_packs_hold_every_token', b.run(
        'report.packOwn.reduce((a, x) => a + x, 0) === 2 * total(report.lengths)'))
    check(name + '_waits_are_in_order', b.run(
        'report.ready.every((t, i) => t <= report.barrier[i] && report.barrier[i] <= report.start[i])'))


# Pixels of the timeline that have a colour, by the names of the colours.
PIXELS = """(() => { const c = byId('timeline'), d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data, n = {};
for (const name of ['forward', 'backward', 'weight']) { const [r, g, b] = rgbOf(colors[name]); n[name] = 0;
for (let i = 0; i < d.length; i += 4) if (d[i] === r && d[i + 1] === g && d[i + 2] === b) n[name]++; } return n; })()"""


def test_theme_and_size(b, folder):
    light = b.run(PIXELS)
    check('timeline_shows_forward_and_backward', light['forward'] > 500 and light['backward'] > 500, light)
    ground = b.run('getComputedStyle(document.body).backgroundColor')
    button = place(b, '#theme')
    for _ in range(2):
        b.click(button['x'] + 5, button['y'] + 5)
    dark = b.run('getComputedStyle(document.body).backgroundColor')
    check('button_turns_dark', dark != ground and b.run("byId('theme').textContent") == 'Colours: dark')
    check('canvas_turns_dark_with_it', b.run(PIXELS)['forward'] > 500)
    b.open(os.path.join(folder, 'small.html'), dark=True)
    check('system_turns_dark', b.run('getComputedStyle(document.body).backgroundColor') == dark)
    for width in (1900, 1000, 400):
        b.size(width, 800)
        b.settle()
        check('page_fits_%d_pixels' % width, b.run(
            'document.documentElement.scrollWidth <= innerWidth && Math.abs(view.width - byId("timeline").clientWidth) < 3'),
            b.run('[document.documentElement.scrollWidth, innerWidth, view.width]'))


def test_own(b, folder):
    b.open(os.path.join(folder, 'own.html'))
    check('unknown_model_is_text', '</script><b>own' in b.run("byId('subtitle').textContent"))
    check('unknown_model_has_a_timeline', b.run(PIXELS)['forward'] > 500)
    check('unknown_model_says_what_is_absent', b.run("byId('policies-none').textContent").startswith('Absent: no preset') and
          b.run("byId('memory-none').hidden") is False)


def test_large(b, folder):
    b.open(os.path.join(folder, 'large.html'))
    check('large_page_has_every_op', b.run('report.start.length') == 64 * 8 * 512)
    test_data(b, 'large')
    b.run("byId('timeline').focus()")
    b.key('0')
    check('large_timeline_shows_all_rows', b.run('report.rows * view.rowHeight <= plotHeight() + 1'))
    shown = b.run(PIXELS)
    check('large_timeline_is_not_empty', shown['forward'] > 500 and shown['backward'] > 500, shown)
    b.key('ArrowDown', SHIFT)
    b.key('Enter')
    check('large_timeline_zooms_to_an_op', b.run('view.rowHeight >= 12 && xOfTime(report.end[picked.op]) - xOfTime(report.start[picked.op]) > 30'))


def main():
    folder = sys.argv[2]
    with Chromium(sys.argv[1]) as b:
        b.open(os.path.join(folder, 'small.html'))
        for test in (test_zoom_and_pan, test_keys, test_focus, test_pointer, test_memory, test_panels):
            test(b)
        test_data(b, 'small')
        test_theme_and_size(b, folder)
        check('small_page_has_no_problems', not b.problems(), b.problems())
        b.open(os.path.join(folder, 'merged.html'))
        test_data(b, 'merged')
        check('merged_page_has_weight_gradients', b.run(PIXELS)['weight'] > 500)
        check('merged_ops_are_marked', b.run('report.merges.length > 0 && mergeOf(report, 0) >= 0'))
        test_own(b, folder)
        test_large(b, folder)
        check('other_pages_have_no_problems', not b.problems(), b.problems())
    sys.exit(1 if failed else 0)


main()
