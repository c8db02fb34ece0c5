// The verdicts of Perfetto's importer on the traces that end-to-end tests left, in TAP, a line a test:
// node judge.mjs IMPORTER_DIRECTORY BATS_FILE BATS_RUN_DIRECTORY
//
// A test passes if the importer reports nothing about its traces: each file *.fxt that it left and that begins as one.
// Faults that are known, and traces that are made to be faulty, are in the file `exceptions` beside this one.

import fs from 'node:fs';
import path from 'node:path';
import {Importer} from './importer.mjs';

const MAGIC = Buffer.from('1000044678541600', 'hex');
const LOSS = 'traced_buf_trace_writer_packet_loss'; // what raises the viewer's flag of lost data
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

// Whether the trace tells that records were lost: a record of metadata (type 0), a provider event (3) of a full buffer (0).
function tellsLoss(file) {
  const data = fs.readFileSync(file);
  for (let at = 0, words; at + 8 <= data.length; at += words * 8) {
    const low = data.readUInt32LE(at), high = data.readUInt32LE(at + 4);
    words = (low & 15) === 15 ? low >>> 4 : low >>> 4 & 0xfff;
    if (words === 0) return false;
    if ((low & 15) === 0 && (low >>> 16 & 15) === 3 && high >>> 20 === 0) return true;
  }
  return false;
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
    let found, dataLosses;
    if (bytes > BYTES_MAX) {
      said.push(`${name}: not loaded, ${Math.round(bytes / 1e6)} MB`);
      continue;
    }
    try {
      importer.load(file);
      found = importer.query(`SELECT name, sum(value) FROM stats
        WHERE value > 0 AND severity != 'info' AND name != '${LOSS}' GROUP BY name`);
      [[dataLosses]] = importer.query(`SELECT sum(value) > 0 FROM stats WHERE name = '${LOSS}'`);
      if (Boolean(dataLosses) !== tellsLoss(file)) {
        found.push([dataLosses ? 'loss_shown_not_told' : 'loss_told_not_shown', 1]);
      }
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
