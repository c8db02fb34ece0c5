'use strict';
// The table of functions: sorted by a click on a column, and narrowed by the search.
(() => {
  const {data, name, time, count, make} = page;
  const FIRST = 50;
  const columns = [{key: 'name', title: 'function'}, ...data.functions.figures];

  const all = page.rows(data.functions);
  for (const row of all) row.text = name(row.name);

  // ---- a table ----

  function nameCell(row) {
    const place = row.file === null ? row.module === null ? '' : name(row.module) : `${name(row.file)}${row.line ? `:${row.line}` : ''}`;
    const title = place ? `${row.text}\n${place}` : row.text;

    // An absolute path only: a relative one would be looked for in the editor's own directory.
    const editor = row.file !== null && row.line && name(row.file).startsWith('/') ?
      make('a', {class: 'editor', href: `vscode://file${encodeURI(name(row.file))}:${row.line}`, title: `open ${place} in an editor`}) : null;

    return make('td', {class: 'text name', title}, make('button', {onclick: () => page.search(row.text)}, ...page.marked(row.text)),
      row.open ? make('small', {}, ` (${count(row.open)} not ended)`) : null, editor);
  }

  function cell(row, column, most) {
    const value = row[column.key], classes = [column.less];
    if (column.key === 'name') return nameCell(row);
    if (column.bar) classes.push('bar', column.key);
    return make('td', {class: classes.filter(Boolean).join(' ') || null, 'data-value': value,
      style: column.bar && most > 0 ? `--share: ${(100 * value / most).toFixed(1)}%` : null},
    value === null ? '-' : column.is_count ? count(value) : time(value));
  }

  function compare(a, b, key, sign) {
    const by = key === 'name' ? (a.text < b.text ? -1 : a.text > b.text ? 1 : 0) : (a[key] ?? -1) - (b[key] ?? -1);
    return sign * by || (a.text < b.text ? -1 : 1);
  }

  // A table below a parent, of rows that stay the same.
  function table(parent, id, rows, title) {
    let key = 'total', sign = -1, limit = FIRST, searched = '';
    const head = make('tr'), body = make('tbody'), more = make('button', {class: 'more', onclick: () => { limit = Infinity; draw(); }});
    const none = make('p', {class: 'note', hidden: ''});
    const most = Object.fromEntries(columns.filter(column => column.bar).map(column => [column.key, 0]));
    for (const row of rows) for (const key in most) most[key] = Math.max(most[key], row[key]);

    function draw() {
      const shown = rows.filter(row => !searched || page.isFound(row.text)).sort((a, b) => compare(a, b, key, sign));
      for (const th of head.children) {
        if (th.dataset.key === key) th.setAttribute('aria-sort', sign < 0 ? 'descending' : 'ascending');
        else th.removeAttribute('aria-sort');
      }
      body.replaceChildren(...shown.slice(0, limit).map(row => make('tr', {}, ...columns.map(column => cell(row, column, most[column.key])))));
      more.hidden = shown.length <= limit;
      more.textContent = `all ${count(shown.length)}`;
      none.hidden = shown.length > 0;
      none.textContent = `None of ${count(rows.length)} is found by this search.`;
    }

    function sort(by) {
      sign = by === key ? -sign : by === 'name' ? 1 : -1;
      key = by;
      draw();
    }

    for (const column of columns)
      head.append(make('th', {'data-key': column.key, class: [column.key === 'name' ? 'text' : '', column.less].filter(Boolean).join(' ') || null, title: column.hint},
        make('button', {onclick: () => sort(column.key)}, column.key === 'name' ? title : column.title)));
    parent.append(make('div', {class: 'wide'}, make('table', {id}, make('thead', {}, head), body)), none, more);
    page.onSearch(text => {
      searched = text;
      draw();
    });
    draw();
  }

  const section = document.getElementById('functions');
  const calls = all.filter(row => row.is_call), others = all.filter(row => !row.is_call);
  if (calls.length) table(section, 'functions-table', calls, 'function');
  else section.append(make('p', {class: 'note'}, 'There are no calls.'));
  if (others.length) {
    section.append(make('h3', {}, 'Not calls: waits, children and the tracer itself'));
    table(section, 'others-table', others, 'name');
  }
})();
