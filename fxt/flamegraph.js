'use strict';
// Makes a flame graph of fxt's answer: zoom by click, search by name. What is shown stands in the address behind #, as
// zoom=NUMBER OF BOX and search=TEXT.
(() => {
  const svg = document.currentScript.ownerSVGElement;
  const isPage = svg === document.documentElement;
  const XML = svg.namespaceURI;
  const placed = element => {
    const place = name => parseFloat(element.getAttribute(name));
    return {element, x: place('x'), width: place('width'), y: place('y'), title: element.querySelector('title').textContent};
  };
  const boxes = [...svg.querySelectorAll('.b')].map((element, number) => {
    const text = element.querySelector('text');
    return {...placed(element), number, text, name: text.textContent, total: Number(element.dataset.total),
      narrow: Number(element.dataset.narrow ?? 0)};
  });
  // What stands for boxes that are too narrow.
  const narrow = [...svg.querySelectorAll('.narrow')].map(placed);
  const all = boxes[0];
  let zoomed = all, search = '';

  // Inside of another one, or the same; places are rounded.
  const isIn = (inner, outer) =>
    inner.x >= outer.x - 1e-3 && inner.x + inner.width <= outer.x + outer.width + 1e-3;

  function element(name, attributes, parent = svg) {
    const made = document.createElementNS(XML, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return parent.appendChild(made);
  }

  // ---- what is shown ----

  const details = element('text', {class: 'details', x: 4, y: 37});
  const warning = svg.querySelector('.warning');
  const letter = (() => {
    const probe = element('text', {visibility: 'hidden'});
    probe.textContent = 'function_name::of<usual>(letters)';
    const width = probe.getComputedTextLength() / probe.textContent.length;
    probe.remove();
    return width || 7;
  })();

  function shown(box) {
    if (isIn(box, zoomed) && box.y >= zoomed.y)
      return {x: (box.x - zoomed.x) / zoomed.width * 100, width: box.width / zoomed.width * 100};
    return box.y < zoomed.y && isIn(zoomed, box) ? {x: 0, width: 100, isAround: true} : null;
  }

  function move(box) {
    const place = shown(box);
    box.element.classList.toggle('away', !place);
    if (place) {
      box.element.setAttribute('x', `${place.x}%`);
      box.element.setAttribute('width', `${place.width}%`);
    }
    return place;
  }

  function draw() {
    const pixels = svg.getBoundingClientRect().width;
    narrow.forEach(move);
    for (const box of boxes) {
      const place = move(box), {classList} = box.element;
      if (!place) continue;
      const letters = Math.floor((place.width / 100 * pixels - 8) / letter);
      classList.toggle('around', Boolean(place.isAround));
      classList.toggle('n', letters < 3);
      box.text.textContent = letters >= box.name.length ? box.name : `${box.name.slice(0, Math.max(letters - 1, 0))}…`;
    }
    const title = svg.querySelector('.title'), field = svg.querySelector('.search');
    field.setAttribute('x', pixels - Math.min(220, pixels / 3) - 4);
    field.setAttribute('width', Math.min(220, pixels / 3));
    title.textContent = fitted(title.dataset.text ??= title.textContent, pixels * 2 / 3 - 16, letter * 1.3);
  }

  const fitted = (text, room, width) =>
    text.length * width <= room ? text : `${text.slice(0, Math.max(Math.floor(room / width) - 1, 0))}…`;

  function tell(text) {
    details.textContent = text && fitted(text.replace('\n', '  '), svg.getBoundingClientRect().width - 8, letter);
    warning.style.display = text ? 'none' : '';
  }

  // ---- search ----

  // Of what is shown of all, the share below boxes that were found, each part once, and what has no names to be searched.
  function find() {
    const wanted = search.toLowerCase(), found = [], percent = part => (100 * part / (zoomed.total || 1)).toFixed(2);
    let unnamed = 0;
    for (const box of boxes) {
      const isFound = wanted !== '' && box !== all && box.name.toLowerCase().includes(wanted);
      box.element.classList.toggle('found', isFound);
      if (wanted === '' || !isIn(box, zoomed) || box.y < zoomed.y || found.some(outer => outer.y < box.y && isIn(box, outer)))
        continue;
      if (isFound) found.push(box);
      else unnamed += box.narrow;
    }
    const total = found.reduce((sum, box) => sum + box.total, 0);
    svg.dataset.found = wanted ? total : '';
    foundText = wanted ? `found: ${percent(total)} % of ${zoomed.name}` : '';
    if (unnamed > 0) foundText += `; ${percent(unnamed)} % is in boxes too narrow to be drawn`;
    tell(foundText);
  }
  let foundText = '';

  const field = element('foreignObject', {class: 'search', y: 4, height: 24, x: 0, width: 10});
  const input = document.createElementNS('http://www.w3.org/1999/xhtml', 'input');
  input.setAttribute('placeholder', 'search: /');
  input.setAttribute('aria-label', 'search');
  field.append(input);
  input.addEventListener('input', () => {
    search = input.value;
    find();
    remember();
  });

  // ---- zoom ----

  function zoom(box) {
    zoomed = box;
    draw();
    find();
    remember();
  }

  function remember() {
    if (!isPage) return;
    const state = new URLSearchParams();
    if (zoomed !== all) state.set('zoom', zoomed.number);
    if (search) state.set('search', search);
    history.replaceState(null, '', `#${state}`);
  }

  for (const box of boxes) {
    box.element.addEventListener('click', () => zoom(box));
  }
  for (const box of [...boxes, ...narrow]) {
    box.element.addEventListener('mouseenter', () => tell(box.title));
    box.element.addEventListener('mouseleave', () => tell(foundText));
  }
  document.addEventListener('keydown', event => {
    if (event.key === '/' && event.target !== input && isPage) {
      event.preventDefault();
      input.focus();
    } else if (event.key === 'Escape' && event.target === input) {
      input.value = search = '';
      input.blur();
      zoom(zoomed);
    } else if (event.key === 'Escape' && isPage) {
      zoom(all);
    }
  });

  if (isPage) {
    svg.setAttribute('width', '100%');
    const state = new URLSearchParams(location.hash.slice(1));
    input.value = search = state.get('search') ?? '';
    zoomed = boxes[Number(state.get('zoom'))] ?? all;
  }
  new ResizeObserver(draw).observe(svg);
  draw();
  find();
})();
