'use strict';
// Who waited for which lock, and who held it meanwhile.
(() => {
  const {data, name, time, count, make} = page;
  const section = document.getElementById('locks');
  const numbers = ['waits', 'total', 'longest', 'at once'];

  function lock(entry) {
    const remark = entry.open ? ` (${count(entry.open)} without an end)` : '';
    return [
      make('tr', {class: 'lock'}, make('td', {class: 'text name', title: entry.lock}, entry.lock, make('small', {}, ` in ${name(entry.name)}${remark}`)),
        make('td', {'data-value': entry.waits}, count(entry.waits)), make('td', {'data-value': entry.ns}, time(entry.ns)),
        make('td', {class: 'least', 'data-value': entry.longest}, time(entry.longest)), make('td', {class: 'least', 'data-value': entry.at_once}, count(entry.at_once))),
      ...entry.bills.map(([ns, waits, holder, waiter]) => make('tr', {class: 'bill'},
        make('td', {class: 'text why', style: '--level: 1'}, 'held by ', holder, ', while waited ', waiter),
        make('td', {'data-value': waits}, count(waits)), make('td', {'data-value': ns}, time(ns)), make('td', {class: 'least'}), make('td', {class: 'least'}))),
    ];
  }

  if (!data.locks.length) {
    section.hidden = true;
    return;
  }
  section.append(make('div', {class: 'wide'}, make('table', {id: 'locks-table'},
    make('thead', {}, make('tr', {}, make('th', {class: 'text'}, 'lock'), ...numbers.map((title, i) => make('th', {class: i > 1 ? 'least' : null}, title)))),
    make('tbody', {}, ...data.locks.flatMap(lock)))));
  if (data.lock_count > data.locks.length)
    section.append(make('p', {class: 'note'}, `The first ${count(data.locks.length)} of ${count(data.lock_count)} locks that threads waited for.`));
})();
