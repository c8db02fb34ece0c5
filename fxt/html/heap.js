'use strict';
// The heap of each process: what lived when, and which call paths the peak and the leaks are of.
(() => {
  const {data, time, bytes, count, plural, make} = page;
  const section = document.getElementById('heap');
  const SVG = 'http://www.w3.org/2000/svg', HEIGHT = 120;

  function draw(tag, attributes, ...children) {
    const element = document.createElementNS(SVG, tag);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...children);
    return element;
  }

  // The most that lived in each step, with the peak marked.
  function curve(heap) {
    const steps = heap.curve.length, most = heap.peak.bytes || 1, y = value => HEIGHT - value / most * (HEIGHT - 4);
    const at = (heap.peak_at - heap.from) / (heap.to - heap.from || 1) * steps;
    const line = heap.curve.map((value, i) => `${i},${y(value).toFixed(1)} ${i + 1},${y(value).toFixed(1)}`).join(' ');
    const svg = draw('svg', {class: 'curve', viewBox: `0 0 ${steps} ${HEIGHT}`, preserveAspectRatio: 'none', role: 'img'},
      draw('polygon', {points: `0,${HEIGHT} ${line} ${steps},${HEIGHT}`}),
      draw('line', {x1: at, x2: at, y1: 0, y2: HEIGHT, 'vector-effect': 'non-scaling-stroke'}));

    return make('figure', {}, svg, make('figcaption', {}, make('span', {}, time(heap.from)),
      make('span', {}, `peak: ${bytes(heap.peak.bytes)} at ${time(heap.peak_at)}`), make('span', {}, time(heap.to))));
  }

  function paths(title, id, cost) {
    if (!cost.paths.length) return [];
    const rows = cost.paths.map(([size, blocks, path]) => {
      const names = path.split(';');
      return make('tr', {}, make('td', {class: 'bar', 'data-value': size, style: `--share: ${(100 * size / (cost.bytes || 1)).toFixed(1)}%`}, bytes(size)),
        make('td', {'data-value': blocks}, count(Math.round(blocks))),
        make('td', {class: 'text why', 'data-value': path}, make('b', {}, names.at(-1)), names.length > 1 ? ` ‹ ${names.slice(0, -1).reverse().join(' ‹ ')}` : ''));
    });
    return [make('h3', {}, title), make('div', {class: 'wide'}, make('table', {class: id},
      make('thead', {}, make('tr', {}, make('th', {}, 'bytes'), make('th', {}, 'blocks'), make('th', {class: 'text'}, 'call path, innermost first'))),
      make('tbody', {}, ...rows))),
    ...cost.path_count > rows.length ? [make('p', {class: 'note'}, `The first ${count(rows.length)} of ${count(cost.path_count)} call paths.`)] : []];
  }

  function fact(key, title, cost, isBad) {
    return make('div', {class: isBad ? 'bad' : null, 'data-cost': key, 'data-bytes': cost.bytes, 'data-blocks': cost.blocks}, make('dt', {}, title),
      make('dd', {}, `${bytes(cost.bytes)}, ${plural(Math.round(cost.blocks), 'block')}`));
  }

  function body(heap) {
    return [make('dl', {class: 'facts'}, fact('allocated', 'allocated', heap.allocated), fact('temporary', 'temporary', heap.temporary),
      fact('peak', 'at the peak', heap.peak), fact('leaked', 'leaked', heap.leaked, heap.leaked.bytes > 0),
      fact('kept', 'kept by the C library', heap.kept)), curve(heap),
    ...paths('At the peak', 'heap-peak', heap.peak), ...paths('Leaked', 'heap-leaked', heap.leaked),
    ...heap.sample_bytes ? [make('p', {class: 'note'}, `One byte in ${count(heap.sample_bytes)} was sampled: all numbers are estimates.`)] : []];
  }

  // One stands open; of several the largest.
  const {processes, more, more_leaked} = data.heap;
  if (processes.length === 1) section.append(make('h3', {}, `${processes[0].name} ${processes[0].process}`), ...body(processes[0]));
  else for (const [i, heap] of processes.entries())
    section.append(make('details', {class: 'heap', open: i === 0 ? '' : null}, make('summary', {}, make('b', {}, `${heap.name} ${heap.process}`),
      make('small', {}, `at the peak ${bytes(heap.peak.bytes)}`, ...heap.leaked.bytes > 0 ? [', leaked ', make('em', {}, bytes(heap.leaked.bytes))] : [])),
    ...body(heap)));
  if (more) section.append(make('p', {class: 'note'}, `And ${count(more)} more with smaller heaps, which leaked ${bytes(more_leaked)} in all: fxt heap has them.`));
  section.hidden = !processes.length;
})();
