'use strict';
// The slowest calls, each with its parts as fxt why has them.
(() => {
  const {data, name, time, count, plural, make} = page;
  const section = document.getElementById('slow');

  // A bar as wide as a part of the whole.
  const bar = (ns, whole) => `--share: ${(100 * ns / (whole || 1)).toFixed(1)}%`;

  function parts(call) {
    return make('div', {class: 'wide'}, make('table', {class: 'parts'},
      make('thead', {}, make('tr', {}, ...['time', 'usually', 'calls', 'what it spent its time on'].map((title, i) =>
        make('th', {class: i === 3 ? 'text' : i === 2 ? 'least' : null}, title)))),
      make('tbody', {}, ...call.parts.map(([level, ns, usual, calls, kind, text]) => make('tr', {'data-level': level, 'data-kind': kind},
        make('td', {class: level ? 'inner' : 'bar', 'data-value': ns, style: bar(ns, call.ns)}, time(ns)),
        make('td', {'data-value': usual}, level && !usual ? '' : time(usual)),
        make('td', {class: 'least', 'data-value': calls}, calls ? count(calls) : ''),
        make('td', {class: 'text why', style: `--level: ${level}`}, make('i', {class: kind}), text))))));
  }

  function thread(id) {
    const [, , koid, threadName] = data.threads[id] ?? [0, null, '?', null];
    return threadName === null ? `thread ${koid}` : `${name(threadName)} ${koid}`;
  }

  function entry(call, number) {
    const most = call.parts.filter(([level, ns, usual]) => level === 0 && ns > usual).sort((a, b) => b[1] - b[2] - (a[1] - a[2]))[0];
    const head = make('summary', {}, make('b', {}, `${number}. `), make('code', {}, name(call.name)), ' took ', make('b', {}, time(call.ns)),
      `, where half of ${plural(call.calls, 'call')} took ${time(call.usual_ns)}`,
      most ? make('small', {}, `mostly ${time(most[1])} ${most[5]}`) : null);
    const show = make('button', {class: 'more', onclick: () => page.showTime(call.start, call.start + call.whole_ns, call.thread)}, 'show in the timeline');

    return make('details', {class: 'call', open: number === 1 ? '' : null, 'data-name': name(call.name), 'data-ns': call.ns}, head,
      make('p', {class: 'note'}, `From ${time(call.start)} on, in ${thread(call.thread)}: ${call.path} `, show), parts(call));
  }

  if (!data.slow.length) {
    section.hidden = true;
    return;
  }
  data.slow.sort((a, b) => a.is_idle - b.is_idle);
  const entries = data.slow.map((call, i) => entry(call, i + 1)), busy = data.slow.filter(call => !call.is_idle).length;
  section.append(make('p', {class: 'note'}, busy ? 'Of functions whose slowest call took most longer than the median call.' : 'None: the calls that took longest were idle.'),
    ...entries.slice(0, busy));
  if (busy < entries.length) section.append(make('p', {class: 'note idle'}, 'Idle rather than slow: these waited for something from outside, in poll, accept and the like, or for work from other threads.'), ...entries.slice(busy));
  if (!data.has_switches) section.append(make('p', {class: 'note'}, 'The trace has no context switches: when threads ran and waited is not known.'));
})();
