'use strict';
// Draws the program's own events: async spans and counters as tracks of the timeline, and flows as arrows from
// thread to thread, among them the messages of a job of MPI.
const said = (() => {
  const {data, name, count, plural} = page;
  const CURVE = 44, ROW = 18, ROWS = 10, HIGH = 200, LEAST = 4, UNFOLDED = 10; // pixels; rows of full height; tracks

  const ofProcess = (process, processName) => `${processName === null ? 'process' : name(processName)} ${process}`;
  const number = value => Math.abs(value) >= 1e15 || (value && Math.abs(value) < 1e-3) ? value.toExponential(3) : count(value);

  // Many rows are low, so that all of them can be seen at once.
  const rowHeight = rows => rows <= ROWS ? ROW : Math.max(Math.floor(HIGH / rows), LEAST);

  const rowsOf = lanes.byThread(data.timeline.async);
  const spans = data.timeline.async_tracks.map(([process, processName, text, category, spanCount, open], i) => ({
    id: null, process, kind: 'async', rows: rowsOf[i] ?? [], rowHeight: rowHeight((rowsOf[i] ?? []).length), title: name(text),
    remark: `${plural(spanCount, 'async span')}${open ? `, ${count(open)} open` : ''}, ${name(category)}, ${ofProcess(process, processName)}`,
  }));

  // A counter is a lane whose items last until the next value.
  function curve(numbers, text, end) {
    const lane = {row: 0, start: [], end: [], value: [], min: [], max: [], name: [], flags: [], count: [], sum: [], longest: []};
    for (let at = 0; at < numbers.length; at += 4) {
      lane.start.push(numbers[at]);
      lane.end.push(at + 4 < numbers.length ? numbers[at + 4] : Math.max(end, numbers[at]));
      lane.value.push(numbers[at + 1] ?? NaN);
      lane.min.push(numbers[at + 2] ?? NaN);
      lane.max.push(numbers[at + 3] ?? NaN);
      lane.name.push(text);
      lane.flags.push(0);
      lane.count.push(1);
    }
    const finite = [...lane.min, ...lane.max].filter(Number.isFinite);
    lane.low = finite.reduce((a, b) => Math.min(a, b), finite[0] ?? 0);
    lane.high = finite.reduce((a, b) => Math.max(a, b), finite[0] ?? 0);
    return lane;
  }

  // The heap has a part of the page of its own, so its counters are the last, and folded.
  const isHeap = ([, , , category]) => name(category) === 'heap';
  const counters = [...data.timeline.counters].sort((a, b) => isHeap(a) - isHeap(b)).map(([process, processName, text, category, id, series, samples, points]) => {
    const lane = curve(points, text, data.timeline.to), several = data.timeline.counters.filter(other => other[2] === text && other[0] === process);
    const ids = new Set(several.map(other => other[4])), all = new Set(several.map(other => other[5]));
    return {id: null, process, kind: 'counter', isHeap: name(category) === 'heap', rows: [], rowHeight: CURVE, curve: lane,
      title: [name(text), ids.size > 1 ? id : '', all.size > 1 || name(text) !== series ? series : ''].filter(Boolean).join(' '),
      remark: `${number(lane.low)} to ${number(lane.high)}, ${plural(samples, 'sample')}, ${name(category)}, ${ofProcess(process, processName)}`};
  });

  // Async spans stand above the threads of their process, counters below them.
  function putInto(tracks) {
    for (const [added, isBefore] of [[spans, true], [counters, false]])
      for (const process of new Set(added.map(track => track.process))) {
        const these = added.filter(track => track.process === process).map((track, i) => Object.assign(track, {isFolded: i >= UNFOLDED || Boolean(track.isHeap)}));
        const places = tracks.map((track, i) => track.process === process ? i : -1).filter(i => i >= 0);
        const at = !places.length ? tracks.length : isBefore ? places[0] : places[places.length - 1] + 1;
        tracks.splice(at, 0, ...these);
      }
  }

  // Steps. Behind them, each point shows the least and the greatest of its values.
  function drawCurve(context, {curve: lane}, y, {view, scale, width}) {
    const low = Math.min(lane.low, 0), high = Math.max(lane.high, low + 1e-300), inner = CURVE - 4;
    const up = value => y + 2 + inner * (1 - (value - low) / (high - low || 1)), x = moment => Math.min(Math.max((moment - view.from) * scale, -2), width + 2);
    const from = Math.max(lanes.firstAfter(lane, view.from), 0), shown = [];
    for (let i = from; i < lane.start.length && lane.start[i] < view.to; i++)
      if (Number.isFinite(lane.value[i])) shown.push(i);
    context.fillStyle = colours.raised;
    context.fillRect(0, y, width, CURVE);
    context.fillStyle = colours.hueOf(lane.name[0]);
    for (const i of shown) {
      const left = x(lane.start[i]), right = Math.max(x(lane.end[i]), left + 0.5);
      context.globalAlpha = 0.75;
      context.fillRect(left, Math.min(up(lane.value[i]), up(0)), right - left, Math.abs(up(lane.value[i]) - up(0)));
      context.globalAlpha = 0.4;
      if (lane.max[i] > lane.min[i]) context.fillRect(left, up(lane.max[i]), Math.max(right - left, 1), up(lane.min[i]) - up(lane.max[i]));
    }
    context.globalAlpha = 1;
    context.strokeStyle = colours.faint;
    context.lineWidth = 1;
    context.beginPath();
    shown.forEach((i, at) => {
      if (at) context.lineTo(x(lane.start[i]), up(lane.value[i]));
      else context.moveTo(x(lane.start[i]), up(lane.value[i]));
      context.lineTo(x(lane.end[i]), up(lane.value[i]));
    });
    context.stroke();
  }

  // ---- arrows ----

  const THIN = 300; // more arrows than this are pale
  const arrows = data.timeline.arrows.map(([from, start, to, end]) => ({from: String(from), start, to: String(to), end}));

  // The row of the innermost slice around a moment, or the outermost one.
  function rowAt(track, moment) {
    let found = 0;
    track.rows.forEach((lane, row) => {
      const item = lanes.firstAfter(lane, moment - 1);
      if (item < lane.start.length && lane.start[item] <= moment) found = Math.max(found, row);
    });
    return found;
  }

  function drawArrows(context, tracks, placeOf, {view, scale}) {
    const byId = new Map(tracks.filter(track => track.id !== null).map(track => [track.id, track])), drawn = new Set(), lines = [];
    for (const arrow of arrows) {
      const from = byId.get(arrow.from), to = byId.get(arrow.to);
      if (!from?.height || !to?.height || Math.max(arrow.start, arrow.end) < view.from || Math.min(arrow.start, arrow.end) > view.to) continue;
      const end = (track, moment, key) => [(moment - view.from) * scale, placeOf(track, track.isFolded ? -1 : arrow[key] ??= rowAt(track, moment))];
      const line = [...end(from, arrow.start, 'startRow'), ...end(to, arrow.end, 'endRow')], key = line.map(Math.round).join();
      if (!drawn.has(key)) lines.push(line);
      drawn.add(key);
    }
    context.strokeStyle = context.fillStyle = colours.accent;
    context.lineWidth = 1;
    context.globalAlpha = lines.length > THIN ? 0.25 : 0.8;
    for (const [x, y, toX, toY] of lines) {
      const bend = Math.max(Math.min(Math.abs(toX - x) / 2, 40), 6), down = Math.sign(toY - y) || 1;
      context.beginPath();
      context.moveTo(x, y);
      context.bezierCurveTo(x + bend, y, toX - bend, toY, toX, toY);
      context.stroke();
      context.beginPath();
      context.moveTo(toX, toY);
      context.lineTo(toX - 5, toY - 3 - (down < 0 ? -1 : 0));
      context.lineTo(toX - 5, toY + 3 - (down < 0 ? -1 : 0));
      context.fill();
    }
    context.globalAlpha = 1;
    return lines.length;
  }

  return {putInto, drawCurve, drawArrows, number, arrows};
})();
