// What Perfetto's importer says of the traces that end-to-end tests left, in TAP, a line a test:
// node judge.mjs IMPORTER_DIRECTORY BATS_FILE BATS_RUN_DIRECTORY
//
// A test passes if the importer reports nothing about its traces: each file *.fxt that it left and that begins as one.
// Faults that are known, and traces that are made to be faulty, are in the file `exceptions` beside this one.

import fs from 'node:fs';
import path from 'node:path';
import {Importer} from './importer.mjs';

const MAGIC = Buffer.from('1000044678541600', 'hex');
const BYTES_MAX = 40e6; // of a trace: some ten seconds, and a gigabyte of memory

const [directory, batsFile, runDirectory] = process.argv.slice(2);

// STATISTIC FILE: TEST: REASON; * is any statistic or test.
const exceptions = fs.readFileSync(new URL('exceptions', import.meta.url), 'utf8').split('\n')
  .filter(line => line && !line.startsWith('#'))
  .map(line => line.match(/^(?<statistic>\S+) (?<file>\S+): (?<test>.*): (?<reason>[^:]+)$/)?.groups ?? fail(line));

function fail(line) {
  throw Error(`tests/judges/exceptions: not understood: ${line}`);
}

function reasonFor(statistic, test) {
  const file = path.basename(batsFile, '.bats');
  return exceptions.find(known => [statistic, '*'].includes(known.statistic) && [file, '*'].includes(known.file) &&
    [test, '*'].includes(known.test))?.reason;
}

// bats keeps a test's title as the name of a shell function.
function titleOf(number) {
  const name = fs.readFileSync(path.join(runDirectory, 'test', `${number}.name`), 'utf8').trim();
  const bytes = [];
  name.replace(/^test_/, '').replace(/-([0-9a-f]{2})|_|[^]/g, (all, hex) =>
    bytes.push(...hex ? [parseInt(hex, 16)] : Buffer.from(all === '_' ? ' ' : all)));
  return Buffer.from(bytes).toString();
}

function beginsAsTrace(file) {
  const head = Buffer.alloc(MAGIC.length), fd = fs.openSync(file);
  fs.readSync(fd, head);
  fs.closeSync(fd);
  return head.equals(MAGIC);
}

const traces = new Map(); // of each test
for (const file of fs.readdirSync(path.join(runDirectory, 'test'), {recursive: true}).sort()) {
  const full = path.join(runDirectory, 'test', file);
  const number = file.split(path.sep)[0];
  if (!file.endsWith('.fxt') || !fs.lstatSync(full).isFile() || !beginsAsTrace(full)) continue;
  traces.set(number, [...traces.get(number) ?? [], full]);
}

const importer = traces.size ? await Importer.start(directory) : null;
for (const [number, files] of [...traces].sort(([a], [b]) => a - b)) {
  const title = titleOf(number);
  const said = [];
  let isBad = false;
  for (const file of files) {
    const name = path.relative(path.join(runDirectory, 'test', number), file);
    const bytes = fs.statSync(file).size;
    let found;
    if (bytes > BYTES_MAX) {
      said.push(`${name}: not loaded, ${Math.round(bytes / 1e6)} MB`);
      continue;
    }
    try {
      importer.load(file);
      found = importer.query("SELECT name, sum(value) FROM stats WHERE value > 0 AND severity != 'info' GROUP BY name");
    } catch (error) {
      found = [['refused', error.message]];
    }
    for (const [statistic, value] of found) {
      const reason = reasonFor(statistic, title);
      isBad ||= !reason;
      said.push(`${name}: ${statistic}: ${value}${reason ? ` (known: ${reason})` : ''}`);
    }
  }
  console.log(`${isBad ? 'not ok' : 'ok'} - the viewer has no complaint: ${path.basename(batsFile)}: ${title}`);
  for (const line of said) console.log(`# ${line}`);
}
