'use strict';
// What is selected in the timeline, and the keys and the pointer that move it.
(() => {
  const {name, time, count, plural, make} = page;
  const {AXIS, HEAD, ROW, LEAST, STATES, view, whole, canvas, scroller, tracks, windows, rowsOf, layOut, scale, moment, show, zoom, pan, redraw, unfold, size,
    isFound, mark} = timeline;
  const selection = document.getElementById('selection');
  let selected = null, pointer = 0.5; // the latter as a share of the width

  // ---- what is selected ----

  const windowAt = moment => windows.find(({from, to}) => moment >= from && moment < to) ?? null;

  function itemAt(x, y) {
    const down = y - AXIS + scroller.scrollTop, track = tracks.find(track => down >= track.y && down < track.y + track.height);
    if (!track || y < AXIS) return null;
    if (down < track.y + HEAD) return {track, isHead: true};
    const at = view.from + x / scale();
    const within = lane => {
      // A pixel to either side counts, for what is narrower than one.
      const item = lane ? lanes.firstAfter(lane, at - 1 / scale()) : -1;
      return lane && item < lane.start.length && lane.start[item] <= at + 1 / scale() ? {track, lane, item} : null;
    };
    if (track.curve) return within(track.curve);
    return within(track.losses) ?? within(down < track.rowsY ? track.states : rowsOf(track, windowAt(at))[Math.floor((down - track.rowsY) / track.rowHeight)]);
  }

  // What is known of an item: titles and texts.
  function facts({track, lane, item}) {
    const start = lane.start[item], length = lane.end[item] - start, number = lane.count[item];
    const place = [...track.id === null ? [] : [['thread', `${track.title}, ${track.remark.split(',')[0]}`]], ['begins', moment(start, 1)], ['takes', time(length)]];
    if (lane === track.losses)
      return [[name(lane.name[item]).replace('fxt: ', ''), count(lane.sum[item])], ...number > 1 ? [['gaps', count(number)]] : [], ...place];
    if (lane === track.curve)
      return [[track.title, said.number(lane.value[item])], ...lane.max[item] > lane.min[item] ? [['between', `${said.number(lane.min[item])} and ${said.number(lane.max[item])}`]] : [], ['from', moment(start, 1)], ['for', time(length)]];
    if (lane === track.states) {
      const share = lane.sum[item] / (length || 1);
      return [number > 1 ? ['running', `${(100 * share).toFixed(1)} %, in ${count(number)} stretches`] : ['state', STATES[lane.name[item]]], ...place];
    }
    if (number > 1)
      return [[track.kind === 'async' ? 'async spans' : 'calls', count(number)], ['in them', time(lane.sum[item])], ['longest', `${name(lane.name[item])}, ${time(lane.longest[item])}`], ...place];
    return [[track.kind === 'async' ? 'async span' : 'function', name(lane.name[item])], ...place, ...lane.flags[item] & lanes.OPEN ? [['end', 'never']] : []];
  }

  function select(what) {
    selected = what;
    mark(what);
    selection.replaceChildren(...what ? facts(what).map(([title, text]) => make('div', {}, make('dt', {}, title), make('dd', {}, text))) : []);
    selection.dataset.start = what ? what.lane.start[what.item] : '';
    selection.dataset.length = what ? what.lane.end[what.item] - what.lane.start[what.item] : '';
    redraw();
  }

  function showItem({lane, item}) {
    const length = Math.max(lane.end[item] - lane.start[item], LEAST);
    show(lane.start[item] - length * 0.1, lane.end[item] + length * 0.1);
  }

  // The next item, by begin and depth, that the search finds; behind the last one the first.
  function selectNext() {
    const after = selected ? [selected.lane.start[selected.item], selected.lane.row] : [-1, -1];
    const isBefore = (a, b) => a[0] < b[0] || (a[0] === b[0] && a[1] < b[1]);
    let next = null, first = null;
    for (const track of tracks)
      for (const [lane, window] of (track.id === null ? [null] : [null, ...windows]).flatMap(window => rowsOf(track, window).map(lane => [lane, window])))
        for (let item = 0; lane && item < lane.start.length; item++) {
          // What begins in a window is in the items of that one.
          if (!isFound(lane.name[item]) || (track.id !== null && windowAt(lane.start[item]) !== window)) continue;
          const what = {track, lane, item, place: [lane.start[item], lane.row]};
          if (!first || isBefore(what.place, first.place)) first = what;
          if (isBefore(after, what.place) && (!next || isBefore(what.place, next.place))) next = what;
        }
    const what = next ?? first;
    if (!what) return;
    unfold(what.track);
    layOut();
    select(what);
    const {lane, item} = what, y = what.track.rowsY + lane.row * what.track.rowHeight;
    if (lane.end[item] < view.from || lane.start[item] > view.to || (lane.end[item] - lane.start[item]) * scale() < 4) showItem(what);
    if (y < scroller.scrollTop || y + ROW + AXIS > scroller.scrollTop + size().height) scroller.scrollTop = Math.max(y - size().height / 2, 0);
  }

  page.onNext(selectNext);

  // ---- the pointer ----

  let drag = null;
  canvas.addEventListener('pointerdown', event => {
    drag = {x: event.offsetX, from: view.from, to: view.to, hasMoved: false};
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener('pointermove', event => {
    pointer = Math.min(Math.max(event.offsetX / size().width, 0), 1);
    if (!drag || (!drag.hasMoved && Math.abs(event.offsetX - drag.x) < 4)) return;
    drag.hasMoved = true;
    const moved = Math.min(Math.max((drag.x - event.offsetX) / scale(), whole.from - drag.from), whole.to - drag.to);
    show(drag.from + moved, drag.to + moved);
  });
  canvas.addEventListener('pointerup', event => {
    const wasClick = drag && !drag.hasMoved, what = wasClick ? itemAt(event.offsetX, event.offsetY) : null;
    drag = null;
    if (!wasClick) return;
    if (what?.isHead) what.track.isFolded = !what.track.isFolded;
    select(what && !what.isHead ? what : null);
  });
  canvas.addEventListener('pointercancel', () => { drag = null; });
  canvas.addEventListener('dblclick', event => {
    const what = itemAt(event.offsetX, event.offsetY);
    if (what && !what.isHead) showItem(what);
  });
  canvas.addEventListener('wheel', event => {
    const share = event.shiftKey ? event.deltaY : event.deltaX;
    if (event.ctrlKey || event.metaKey) zoom(Math.exp(event.deltaY / 300), event.offsetX / size().width);
    else if (share) pan(share / size().width);
    else return;
    event.preventDefault();
  }, {passive: false});

  // ---- keys ----

  const keys = {w: () => zoom(1 / 1.3, pointer), s: () => zoom(1.3, pointer), a: () => pan(-0.15), d: () => pan(0.15),
    f: () => selected && showItem(selected)};
  document.addEventListener('keydown', event => {
    if (page.isTyping(event)) return;
    keys[event.key.toLowerCase()]?.();
  });
})();
