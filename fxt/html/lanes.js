'use strict';
// The items of a timeline (lanes.h), taken out of the numbers they are written as.
const lanes = (() => {
  // An item's flags, beside its name.
  const MERGED = 1, CALL = 2, OPEN = 4;

  // One lane: arrays by item, in the order of time. `sum` is the time that its slices take, or another weight.
  function decode([thread, row, numbers]) {
    const items = {start: [], end: [], name: [], flags: [], count: [], sum: [], longest: []};
    let time = 0;
    for (let at = 0; at < numbers.length;) {
      const start = time + numbers[at], length = numbers[at + 1], name = numbers[at + 2];
      const isMerged = name & MERGED;
      items.start.push(start);
      items.end.push(time = start + length);
      items.name.push(name >>> 3);
      items.flags.push(name & 7);
      items.count.push(isMerged ? numbers[at + 3] : 1);
      items.sum.push(isMerged ? numbers[at + 4] : length);
      items.longest.push(isMerged ? numbers[at + 5] : length);
      at += isMerged ? 6 : 3;
    }
    return {thread, row, ...items};
  }

  // The first item that ends behind a moment.
  function firstAfter(lane, moment) {
    let low = 0, high = lane.end.length;
    while (low < high) {
      const middle = low + high >> 1;
      if (lane.end[middle] > moment) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  // {thread: [lane of each row]}
  function byThread(set) {
    const threads = {};
    for (const numbers of set.lanes) {
      const lane = decode(numbers);
      (threads[lane.thread] ??= [])[lane.row] = lane;
    }
    return threads;
  }

  return {MERGED, CALL, OPEN, byThread, firstAfter};
})();
