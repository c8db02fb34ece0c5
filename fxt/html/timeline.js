'use strict';
// The timeline: a track for each thread, with its losses, its running times, and its calls by depth; and tracks of the
// program's own events (said.js). Each pixel is drawn once, so a picture takes as long as it has pixels, however
// many calls there are.
const timeline = (() => {
  const {data, name, time, count, plural, make} = page;
  const AXIS = 26, HEAD = 22, STATE = 6, ROW = 18, GAP = 8, LEAST = 10; // pixels; LEAST: ns that fill the width
  const RUNNING = 1, STATES = ['', 'running', 'preempted', 'blocked'];
  const whole = {from: data.timeline.from, to: Math.max(data.timeline.to, data.timeline.from + LEAST)};
  const section = document.getElementById('timeline');
  const view = {...whole}; // what is shown, in ns
  let selected = null, searched = '', isFound = [];

  // ---- tracks ----

  const calls = lanes.byThread(data.timeline.calls), states = lanes.byThread(data.timeline.states);
  const losses = lanes.byThread(data.timeline.losses);
  const rankOf = process => data.ranks[process] ?? Infinity;
  const tracks = Object.entries(data.threads).map(([id, [process, processName, koid, threadName, callCount]]) => ({
    id, process, koid, isFolded: process in data.ranks && koid !== process && !callCount, rows: calls[id] ?? [], rowHeight: ROW, states: states[id]?.[0], losses: losses[id]?.[0],
    title: `${process in data.ranks ? `rank ${data.ranks[process]}${koid === process ? '' : ', '}` : ''}${process in data.ranks && koid === process ? '' : `${threadName === null ? 'thread' : name(threadName)} ${koid}`}`,
    remark: `${processName === null ? 'process' : name(processName)} ${process}, ${plural(callCount, 'call')}`,
  })).sort((a, b) => (rankOf(a.process) - rankOf(b.process) || 0) || a.process - b.process || a.koid - b.koid);

  // Many threads of a process that lived for a short time are one row, until it is unfolded.
  const SHORT = 1 / 50, MANY = 8; // of the whole time; and more of them than this
  const livedShortly = ({rows}) => {
    const lived = rows.filter(Boolean);
    return Math.max(...lived.map(({end}) => end[end.length - 1])) - Math.min(...lived.map(({start}) => start[0])) < SHORT * (whole.to - whole.from);
  };
  for (const process of new Set(tracks.map(track => track.process))) {
    const members = tracks.filter(track => track.process === process && livedShortly(track));
    if (members.length <= MANY) continue;
    const group = {id: null, process, isFolded: true, rows: [], rowHeight: ROW, members, title: `${count(members.length)} short-lived threads`, remark: members[0].remark.split(',')[0]};
    tracks.splice(tracks.indexOf(members[0]), 0, group);
    for (const member of members) member.group = group;
    // The members stand together behind it.
    const others = tracks.filter(track => track.group !== group), at = others.indexOf(group) + 1;
    tracks.splice(0, tracks.length, ...others.slice(0, at), ...members, ...others.slice(at));
  }
  said.putInto(tracks);
  const unfold = track => {
    track.isFolded = false;
    if (track.group) track.group.isFolded = false;
  };

  // Around calls that were asked for there are items of their own, in more detail.
  const windows = data.timeline.windows.map(window => ({...window, rows: lanes.byThread(window.calls)})).sort((a, b) => a.from - b.from);
  const rowsOf = (track, window) => window && track.id !== null ? window.rows[track.id] ?? [] : track.rows;

  // What is shown, as parts of the time that are in a window or in none.
  function parts() {
    const found = [];
    let at = view.from;
    for (const window of windows) {
      const from = Math.max(window.from, at), to = Math.min(window.to, view.to);
      if (to <= from) continue;
      if (from > at) found.push({from: at, to: from, window: null});
      found.push({from, to, window});
      at = to;
    }
    if (at < view.to || !found.length) found.push({from: at, to: view.to, window: null});
    return found;
  }

  // Where tracks are; returns how high all of them are.
  function layOut() {
    let y = 0;
    for (const track of tracks) {
      track.y = y;
      track.stateY = y + HEAD;
      track.rowsY = y + HEAD + (track.states ? STATE + 2 : 0);
      track.height = track.group?.isFolded ? 0
        : HEAD + (track.members ? track.isFolded && ROW : track.isFolded ? 0 : track.rowsY - track.stateY + (track.curve ? track.rowHeight : track.rows.length * track.rowHeight)) + GAP;
      y += track.height;
    }
    return y;
  }

  // ---- elements ----

  const canvas = make('canvas', {tabindex: 0, role: 'img', 'aria-label': 'timeline of all threads'});
  const spacer = make('div', {class: 'spacer'}, canvas), scroller = make('div', {class: 'scroller'}, spacer);
  const range = make('output', {class: 'range'});
  const selection = make('dl', {id: 'selection', class: 'facts'});
  const button = (text, hint, act) => make('button', {class: 'more', title: hint, onclick: act}, text);
  section.append(make('div', {class: 'tools'},
    button('+', 'zoom in: W', () => zoom(1 / 1.5, 0.5)), button('−', 'zoom out: S', () => zoom(1.5, 0.5)),
    button('◂', 'to the left: A', () => pan(-0.3)), button('▸', 'to the right: D', () => pan(0.3)),
    button('all', 'the whole time', () => show(whole.from, whole.to)), range), scroller, selection);
  const context = canvas.getContext('2d');

  // ---- drawing ----

  const scale = () => width / (view.to - view.from);
  let width = 0, height = 0, isDue = false;

  function redraw() {
    if (!isDue) requestAnimationFrame(draw);
    isDue = true;
  }

  function fitted(text, room) {
    const letters = Math.floor(room / letterWidth);
    return letters >= text.length ? text : letters < 3 ? '' : `${text.slice(0, letters - 1)}…`;
  }
  let letterWidth = 7;

  // Calls visit(item, x, width) for each item that is to be seen, of several within a pixel for the first.
  function eachShown(lane, visit, {from, to} = view) {
    let drawn = -1;
    for (let i = lanes.firstAfter(lane, from); i < lane.start.length && lane.start[i] < to; i++) {
      const left = Math.max((lane.start[i] - view.from) * scale(), -1), right = Math.min((lane.end[i] - view.from) * scale(), width + 1);
      if (right < drawn + 1) continue;
      visit(i, left, Math.max(right - left, 1));
      drawn = Math.floor(Math.max(right, left + 1));
    }
  }

  // A row that is lower than a letter has no texts; a span says how long it took, because its track says its name.
  function drawLane(lane, y, part, {rowHeight, kind} = {rowHeight: ROW}) {
    const edge = (part.from - view.from) * scale(), end = (part.to - view.from) * scale();
    eachShown(lane, (i, x, w) => {
      const flags = lane.flags[i], isMerged = lane.count[i] > 1;
      const colour = isFound[lane.name[i]] ? colours.found : flags & lanes.CALL ? colours.hueOf(lane.name[i]) : colours.other;
      const full = searched && !isFound[lane.name[i]] ? 0.3 : 1;
      context.globalAlpha = isMerged ? full * (0.3 + 0.5 * Math.min(lane.sum[i] / (lane.end[i] - lane.start[i] || 1), 1)) : full;
      context.fillStyle = colour;
      context.fillRect(x, y, w > 3 ? w - 1 : w, rowHeight - 1);
      if (selected && selected.lane === lane && selected.item === i) {
        context.globalAlpha = 1;
        context.strokeStyle = colours.ink;
        context.lineWidth = 2;
        context.strokeRect(x + 1, y + 1, Math.max(w - 2, 1), Math.max(rowHeight - 3, 1));
      }
      if (w < 24 || rowHeight < ROW) return;
      context.globalAlpha = full;
      context.fillStyle = isFound[lane.name[i]] ? '#fff' : colours.ink;
      const from = Math.max(x, edge), text = isMerged ? `${count(lane.count[i])} ×, as ${name(lane.name[i])}` : kind === 'async' ? time(lane.end[i] - lane.start[i]) : name(lane.name[i]);
      context.fillText(fitted(text, Math.min(x + w, end) - from - 8), from + 4, y + ROW / 2);
    }, part);
    context.globalAlpha = 1;
  }

  function drawStates(track, y) {
    eachShown(track.states, (i, x, w) => {
      const share = track.states.sum[i] / (track.states.end[i] - track.states.start[i] || 1);
      const isMixed = track.states.count[i] > 1;
      context.fillStyle = isMixed ? colours.blocked : colours[STATES[track.states.name[i]]];
      context.fillRect(x, y, w, STATE);
      context.fillStyle = colours.running;
      if (isMixed) context.fillRect(x, y + STATE * (1 - share), w, STATE * share);
    });
  }

  // Over the whole track: of what was called meanwhile nothing is known.
  function drawLosses(track, y, high) {
    eachShown(track.losses, (i, x, w) => {
      context.globalAlpha = 0.85;
      context.fillStyle = colours['bad-paper'];
      context.fillRect(x, y, Math.max(w, 2), high);
      context.globalAlpha = 1;
      context.fillStyle = w < 3 ? colours.bad : colours.lost;
      context.fillRect(x, y, Math.max(w, 2), high);
      const from = Math.max(x, 0), text = fitted(`${count(track.losses.sum[i])} ${name(track.losses.name[i]).replace('fxt: ', '')}`, x + w - from - 16);
      if (!text) return;
      context.fillStyle = colours['bad-paper'];
      context.fillRect(from + 4, y + 2, context.measureText(text).width + 8, ROW - 4);
      context.fillStyle = colours.bad;
      context.fillText(text, from + 8, y + ROW / 2);
    });
  }

  function drawCounter(track, y) {
    said.drawCurve(context, track, y, {view, scale: scale(), width});
    if (!selected || selected.lane !== track.curve) return;
    context.fillStyle = colours.ink;
    context.fillRect((track.curve.start[selected.item] - view.from) * scale(), y, 2, track.rowHeight);
  }

  // The middle of a track's row on the canvas; of row -1, that of its head.
  const placeOf = (track, row) => (row < 0 ? track.y + HEAD / 2 : track.rowsY + (row + 0.5) * ROW) - scroller.scrollTop + AXIS;

  function drawTrack(track, top) {
    const y = track.y - top + AXIS;
    context.fillStyle = colours.raised;
    context.fillRect(0, y, width, HEAD - 2);
    context.fillStyle = colours.ink;
    context.font = `600 12px ${font}`;
    const title = `${track.isFolded ? '▸' : '▾'} ${track.title}`;
    context.fillText(fitted(title, width - 8), 6, y + HEAD / 2);
    const after = 16 + context.measureText(title).width;
    context.font = `12px ${font}`;
    context.fillStyle = colours.faint;
    context.fillText(fitted(track.remark, width - after), after, y + HEAD / 2);
    if (track.members && track.isFolded)
      for (const {rows: [outermost]} of track.members)
        if (outermost) drawLane(outermost, y + HEAD, view);
    if (track.isFolded) return;
    if (track.states) drawStates(track, track.stateY - top + AXIS);
    if (track.curve) drawCounter(track, track.rowsY - top + AXIS);
    for (const part of parts()) {
      context.save();
      context.beginPath();
      context.rect((part.from - view.from) * scale(), 0, (part.to - part.from) * scale(), height);
      context.clip();
      rowsOf(track, part.window).forEach((lane, row) => {
        const laneY = track.rowsY + row * track.rowHeight - top + AXIS;
        if (laneY > AXIS - track.rowHeight && laneY < height) drawLane(lane, laneY, part, track);
      });
      context.restore();
    }
    if (track.losses) drawLosses(track, track.rowsY - top + AXIS, track.rows.length * ROW);
  }

  // A moment since the trace's start, with as many digits as the step of the axis needs.
  function moment(ns, step) {
    const [unit, size] = [['s', 1e9], ['ms', 1e6], ['us', 1e3], ['ns', 1]].find(([, size]) => view.to >= size) ?? ['ns', 1];
    return `${(ns / size).toFixed(Math.max(Math.ceil(Math.log10(size / step) - 1e-9), 0))} ${unit}`;
  }

  function axisStep() {
    const least = (view.to - view.from) / Math.max(width / 130, 1), power = 10 ** Math.floor(Math.log10(least));
    return Math.max([1, 2, 5, 10].find(factor => factor * power >= least) * power, 1);
  }

  function drawAxis() {
    const step = axisStep();
    context.fillStyle = colours.paper;
    context.fillRect(0, 0, width, AXIS);
    // The part of the whole that is shown.
    context.fillStyle = colours.line;
    context.fillRect(0, 0, width, 4);
    context.fillStyle = colours.accent;
    context.fillRect((view.from - whole.from) / (whole.to - whole.from) * width, 0, Math.max((view.to - view.from) / (whole.to - whole.from) * width, 3), 4);
    context.fillStyle = colours.faint;
    for (let at = Math.ceil(view.from / step) * step; at < view.to; at += step) {
      const x = (at - view.from) * scale(), text = moment(at, step);
      context.fillRect(x, AXIS - 6, 1, 6);
      if (x + context.measureText(text).width + 6 < width) context.fillText(text, x + 4, AXIS - 10);
    }
    context.fillRect(0, AXIS - 1, width, 1);
    context.fillStyle = colours.accent;
    for (const {from, to} of windows) context.fillRect((from - view.from) * scale(), AXIS - 3, Math.max((to - from) * scale(), 3), 3);
  }

  const font = getComputedStyle(document.body).fontFamily;
  function draw() {
    isDue = false;
    const ratio = devicePixelRatio || 1, content = layOut() + AXIS;
    width = scroller.clientWidth;
    height = Math.min(content, Math.max(innerHeight * 0.7, 240));
    scroller.style.height = `${height}px`;
    spacer.style.height = `${content}px`;
    width = scroller.clientWidth;
    canvas.style.height = `${height}px`;
    // A canvas that is given its size again is made anew, which takes longer than what is drawn on it.
    const pixels = [width, height].map(length => Math.floor(length * ratio));
    if (canvas.width !== pixels[0] || canvas.height !== pixels[1]) [canvas.width, canvas.height] = pixels;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    context.font = `12px ${font}`;
    context.textBaseline = 'middle';
    letterWidth = context.measureText('function_name::of<usual>').width / 24;
    for (const track of tracks) {
      if (track.height && track.y + track.height > scroller.scrollTop && track.y < scroller.scrollTop + height) drawTrack(track, scroller.scrollTop);
    }
    section.dataset.arrows = said.drawArrows(context, tracks, placeOf, {view, scale: scale()});
    drawAxis();
    range.textContent = `${moment(view.from, axisStep() / 10)} – ${moment(view.to, axisStep() / 10)}: ${time(view.to - view.from)}`;
  }

  // ---- moving ----

  function show(from, to) {
    const length = Math.min(Math.max(to - from, LEAST), whole.to - whole.from);
    const start = Math.min(Math.max((from + to - length) / 2, whole.from), whole.to - length);
    view.from = Math.floor(start);
    view.to = Math.min(view.from + Math.ceil(length), whole.to);
    Object.assign(section.dataset, {from: view.from, to: view.to});
    page.remember('time', view.from === whole.from && view.to === whole.to ? '' : `${view.from}..${view.to}`);
    redraw();
  }

  // What is at this share of the width stays there.
  function zoom(factor, at) {
    const middle = view.from + at * (view.to - view.from);
    show(middle - at * (view.to - view.from) * factor, middle + (1 - at) * (view.to - view.from) * factor);
  }

  function pan(share) {
    const length = view.to - view.from, from = Math.min(Math.max(view.from + share * length, whole.from), whole.to - length);
    show(from, from + length);
  }

  page.onSearch(text => {
    searched = text;
    isFound = data.names.map(page.isFound);
    redraw();
  });

  // For other parts: a stretch of a thread's time, with something around it.
  page.showTime = (from, to, thread) => {
    const track = tracks.find(track => track.id === String(thread));
    section.scrollIntoView();
    show(from - (to - from) * 0.1, to + (to - from) * 0.1);
    if (track) unfold(track);
    layOut();
    if (track) scroller.scrollTop = track.y;
  };

  // ---- the beginning ----

  const {calls: {width: merged, left_out: leftOut}} = data.timeline;
  if (merged) section.append(make('p', {class: 'note'}, `Calls beside each other that together took less than ${time(merged)} are drawn as one, with how many they are and the longest of them; fxt html --time=FROM..TO shows a part in more detail.`));
  if (leftOut) section.append(make('p', {class: 'note'}, `${plural(leftOut, 'call')} deeper than the rows of this picture ${leftOut === 1 ? 'is' : 'are'} not drawn.`));
  const {async: {left_out: spansLeftOut}, counters_not_drawn: countersLeftOut, arrows_not_drawn: arrowsLeftOut} = data.timeline;
  if (spansLeftOut) section.append(make('p', {class: 'note'}, `${plural(spansLeftOut, 'async span')} beyond the rows of this picture ${spansLeftOut === 1 ? 'is' : 'are'} not drawn.`));
  if (countersLeftOut) section.append(make('p', {class: 'note'}, `More counters, which fxt counters has: ${count(countersLeftOut)}.`));
  if (arrowsLeftOut) section.append(make('p', {class: 'note'}, `The longest arrows are drawn, and ${count(arrowsLeftOut)} shorter ones are not.`));
  if (!tracks.length) section.hidden = true;
  section.append(make('p', {class: 'note keys'}, 'W and S zoom, A and D move, / searches and Enter goes to the next one found; a click selects, F zooms to it; Ctrl and the wheel zoom, dragging moves.'));
  if (data.has_switches)
    section.append(make('p', {class: 'note keys'}, 'Above the calls of a thread: ', ...STATES.slice(1).flatMap(state => [make('i', {class: state}), ` ${state} `])));
  const {async_tracks: {length: spans}, counters: {length: curves}, arrows: {length: flows}} = data.timeline;
  if (spans || curves || flows)
    section.append(make('p', {class: 'note keys'}, [spans ? 'async spans stand above the threads of their process' : '', curves ? 'counters stand below the threads of their process' : '',
      flows ? 'arrows are flows and messages from thread to thread' : ''].filter(Boolean).join('; ').replace(/^./, letter => letter.toUpperCase()) + '.'));
  for (const {text, from, to, thread, calls: {width: merged}} of windows) {
    section.querySelector('.tools').append(button(text, 'the time around this call', () => page.showTime(from, to, thread)));
    if (merged) section.append(make('p', {class: 'note'}, `Around ${text} that is so for less than ${time(merged)}.`));
  }
  const asked = /^(\d+)\.\.(\d+)$/.exec(page.shown.get('time') ?? '');
  colours.read(context);
  show(Number(asked?.[1] ?? whole.from), Number(asked?.[2] ?? whole.to));
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
    colours.read(context);
    redraw();
  });
  scroller.addEventListener('scroll', redraw);
  new ResizeObserver(redraw).observe(section);
  draw();
  return {AXIS, HEAD, ROW, LEAST, STATES, view, whole, canvas, scroller, tracks, windows, rowsOf, layOut, scale, moment, show, zoom, pan, redraw, unfold,
    size: () => ({width, height}), isFound: name => isFound[name], mark: what => { selected = what; }};
})();
