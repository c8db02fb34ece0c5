'use strict';
// What all parts of the page share: the data, texts, elements, and the search. Then the summary.
const page = (() => {
  const data = JSON.parse(document.getElementById('data').textContent);
  const name = number => data.names[number];

  // ---- texts, as fxt report has them ----

  function time(ns) {
    if (ns < 1000) return `${Number.isInteger(ns) ? ns : ns.toFixed(1)} ns`;
    for (const [unit, size] of [['us', 1e3], ['ms', 1e6]])
      if (ns < size * 1000) return `${(ns / size).toFixed(3)} ${unit}`;
    return `${(ns / 1e9).toFixed(3)} s`;
  }

  function bytes(number) {
    const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];
    let unit = 0;
    for (; unit < 4 && number >= 1023.95; unit++) number /= 1024;
    return `${unit ? number.toFixed(1) : Math.round(number)} ${units[unit]}`;
  }

  const {format: count} = new Intl.NumberFormat('en');
  const plural = (number, what) => `${count(number)} ${what}${number === 1 ? '' : 's'}`;

  // ---- elements ----

  // Texts are children, and never markup.
  function make(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    for (const [key, value] of Object.entries(attributes))
      if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
      else if (value !== null && value !== undefined && value !== false) element.setAttribute(key, value);
    element.append(...children.filter(child => child !== null));
    return element;
  }

  // A table of rows as objects: {columns: ["name", ...], rows: [[...], ...]}.
  const rows = table => table.rows.map(row => Object.fromEntries(table.columns.map((key, i) => [key, row[i]])));

  // The text with the part that is searched for marked.
  function marked(text) {
    const at = searched ? text.toLowerCase().indexOf(searched.toLowerCase()) : -1;
    if (at < 0) return [text];
    const end = at + searched.length;
    return [text.slice(0, at), make('mark', {}, text.slice(at, end)), text.slice(end)];
  }

  // ---- what is shown, in the address behind # ----

  const shown = new URLSearchParams(location.hash.slice(1));
  let rest = 0;
  // Written once it has not changed for a moment: browsers refuse an address that changes with each picture.
  function remember(key, value) {
    if (value) shown.set(key, value);
    else shown.delete(key);
    clearTimeout(rest);
    rest = setTimeout(() => history.replaceState(null, '', `#${shown}`), 200);
  }

  // ---- search ----

  let searched = '';
  const listeners = [], followers = []; // of a search, and of who wants the next one found
  const input = document.getElementById('search');
  const isFound = text => searched !== '' && text.toLowerCase().includes(searched.toLowerCase());

  function search(text) {
    searched = input.value = text;
    const found = searched ? data.names.filter(isFound).length : 0;
    document.getElementById('found').textContent = searched ? plural(found, 'name') : '';
    for (const listener of listeners) listener(searched);
    remember('search', searched);
  }

  input.addEventListener('input', () => search(input.value));
  document.addEventListener('keydown', event => {
    if (event.key === '/' && !isTyping(event)) {
      event.preventDefault();
      input.focus();
      input.select();
    } else if (event.key === 'Enter' && event.target === input) {
      for (const next of followers) next();
    } else if (event.key === 'Escape' && (event.target === input || !isTyping(event))) {
      search('');
      input.blur();
    }
  });
  const isTyping = event => event.target.matches?.('input, textarea, select') || event.ctrlKey || event.metaKey || event.altKey;

  // The flame graph has a search of its own, which follows.
  const flame = document.querySelector('#flame input');
  listeners.push(text => {
    if (!flame) return;
    flame.value = text;
    flame.dispatchEvent(new Event('input'));
  });

  // ---- the summary ----

  function fact(list, title, value, isBad = false) {
    list.append(make('div', {class: isBad ? 'bad' : null}, make('dt', {}, title), make('dd', {}, value)));
  }

  function warn(section, text) {
    section.append(make('p', {class: 'warning'}, text));
  }

  function summary() {
    const section = document.getElementById('summary'), list = make('dl', {class: 'facts'});

    fact(list, 'duration', time(data.duration_ns));
    fact(list, 'calls', count(data.calls));
    fact(list, 'functions', count(data.function_count));
    fact(list, 'threads', count(data.thread_count));
    if (data.process_count > 1) fact(list, 'processes', count(data.process_count));
    const least = data.losses_uncounted ? 'at least ' : '';
    fact(list, 'lost records', least + count(data.records_lost), data.records_lost > 0);
    if (data.records_overwritten) fact(list, 'overwritten records', count(data.records_overwritten), true);
    if (data.tracer_waits) fact(list, 'held by the tracer', time(data.tracer_waited_ns));
    section.append(list);
    const when = data.began_ms ? `Recorded on ${new Date(data.began_ms).toLocaleString()}` : '';
    const where = data.system ? `${data.system}${data.processors ? `, ${plural(data.processors, 'processor')}` : ''}` : '';
    if (data.command) section.append(make('p', {class: 'note command'}, 'Command: ', make('code', {}, data.command)));
    if (when || where) section.append(make('p', {class: 'note recorded'}, `${[when || 'Recorded', where].filter(Boolean).join(' on ')}.`));
    for (const death of data.deaths) warn(section, `${death[0].toUpperCase()}${death.slice(1)}.`);
    if (data.death_count > data.deaths.length) warn(section, `More processes that were killed: ${count(data.death_count - data.deaths.length)}.`);
    if (data.records_lost) warn(section, `${least}${plural(data.records_lost, 'record')} found no room and ${data.records_lost === 1 ? 'is' : 'are'} missing in all figures.`);
    if (data.records_overwritten) warn(section, `${plural(data.records_overwritten, 'record')} made room for later ones and ${data.records_overwritten === 1 ? 'is' : 'are'} missing in all figures.`);
    if (data.ends_without_begin) warn(section, `${plural(data.ends_without_begin, 'end')} of a duration without its beginning: ignored.`);
    if (data.malformed) warn(section, `${plural(data.malformed, 'malformed record')}: skipped.`);
    if (!data.is_whole) warn(section, 'The file is broken; everything after the break is missing.');
    if (!data.is_finished) warn(section, 'The trace is unfinished: fxtrun was killed before it wrote the end. In streaming mode the trace has all calls that had returned a second before.');
    if (data.is_recovered) warn(section, 'The trace was recovered after the manager was killed: later context switches and processes are missing.');
    if (data.bytes_unwritten) warn(section, `The trace is cut: its file had no room for ${plural(data.bytes_unwritten, 'byte')} of records.`);
    if (data.processes_dropped) warn(section, `${plural(data.processes_dropped, 'process', 'processes')} that had ended made room for later ones and ${data.processes_dropped === 1 ? 'is' : 'are'} missing in all figures, with ${plural(data.records_dropped, 'record')}.`);
    if (data.is_cut) warn(section, 'The trace is a part of another one, made by fxt cut: the rest is missing in all figures.');
    if (data.calls_left_out) warn(section, `${plural(data.calls_left_out, 'short call')} of ${time(data.left_out_ns)} in all: elided by fxtrun. The table of functions has them, timeline and flame graph do not.`);
    if (data.is_chosen) section.append(make('p', {class: 'note'}, 'Calls and figures are those of the part of the trace that was chosen for this page.'));
    section.append(make('p', {class: 'note'}, `Made by fxt ${data.version}.`));
  }

  // The parts of the page, and what is shown, once all scripts have run.
  document.addEventListener('DOMContentLoaded', () => {
    for (const heading of document.querySelectorAll('main section:not([hidden]) > h2'))
      document.querySelector('nav').append(make('a', {href: `#${heading.parentElement.id}`, onclick: event => {
        event.preventDefault();
        heading.parentElement.scrollIntoView();
      }}, heading.textContent));
    if (shown.get('search')) search(shown.get('search'));
  });

  summary();
  return {data, name, time, bytes, count, plural, make, rows, marked, shown, remember, search, isFound, isTyping,
    onSearch: listener => listeners.push(listener), onNext: follower => followers.push(follower)};
})();
