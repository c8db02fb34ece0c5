// Perfetto's importer in node: loads a trace as the viewer does, and answers SQL about what it understood.
//
// The importer is WebAssembly behind the worker script of Perfetto's UI (tests/judges/fetch). The script runs
// unchanged, in the globals a browser would give it; requests and answers are protocol buffers, of
// trace_processor.proto (TraceProcessorRpcStream).

import fs from 'node:fs';
import path from 'node:path';
import v8 from 'node:v8';
import vm from 'node:vm';
import {setImmediate as turn} from 'node:timers/promises';

// The optimizing compiler would take three seconds. Loading a test's trace takes a tenth of that.
v8.setFlagsFromString('--liftoff-only');

const METHOD = {append: 1, finalize: 2, query: 3, reset: 11};
const ARGUMENT = {append: 101, query: 103};
const RESULT = {append: 201, query: 203, finalize: 212};
const FATAL_ERROR = 5;
const CHUNK_BYTES = 16 << 20;

// ---- protocol buffers ----

function varint(value) {
  const bytes = [];
  for (let rest = BigInt(value);; rest >>= 7n) {
    if (rest < 128n) return Buffer.from([...bytes, Number(rest)]);
    bytes.push(Number(rest & 127n) | 128);
  }
}

const number = (field, value) => Buffer.concat([varint(field << 3), varint(value)]);

function bytes(field, data) {
  const content = Buffer.from(data);
  return Buffer.concat([varint(field << 3 | 2), varint(content.length), content]);
}

function readVarint(data, at) {
  let value = 0n;
  for (let shift = 0n;; shift += 7n) {
    const byte = data[at++];
    value |= BigInt(byte & 127) << shift;
    if (byte < 128) return [BigInt.asIntN(64, value), at];
  }
}

// [field, value] of each field of a message: a BigInt, or the bytes.
function* fields(data) {
  for (let at = 0; at < data.length;) {
    let key, value, length;
    [key, at] = readVarint(data, at);
    const wire = Number(key & 7n);
    if (wire === 0) {
      [value, at] = readVarint(data, at);
    } else if (wire === 1) {
      value = data.subarray(at, at += 8);
    } else if (wire === 2) {
      [length, at] = readVarint(data, at);
      value = data.subarray(at, at += Number(length));
    } else {
      throw Error(`a field of wire type ${wire}`);
    }
    yield [Number(key >> 3n), value];
  }
}

function packedVarints(data) {
  const values = [];
  for (let at = 0, value; at < data.length;) {
    [value, at] = readVarint(data, at);
    values.push(value);
  }
  return values;
}

// The cells of a batch of rows, each of the kind the first column of bytes says (QueryResult.CellsBatch).
function cellsOf(batch) {
  let kinds = [], strings = [];
  const numbers = [], floats = [], blobs = [];
  for (const [field, value] of fields(batch)) {
    if (field === 1) kinds = typeof value === 'bigint' ? [...kinds, value] : kinds.concat(packedVarints(value));
    if (field === 2) numbers.push(...typeof value === 'bigint' ? [value] : packedVarints(value));
    if (field === 3) for (let at = 0; at < value.length; at += 8) floats.push(value.readDoubleLE(at));
    if (field === 4) blobs.push(value);
    if (field === 5) strings = value.toString().split('\0');
  }
  const next = {2: numbers.values(), 3: floats.values(), 4: strings.values(), 5: blobs.values()};
  return kinds.map(kind => next[kind]?.next().value ?? null);
}

// ---- the importer ----

export class Importer {
  #port;
  #answer = [];
  #requests = 0;

  // directory: what fetch left.
  static async start(directory) {
    const importer = new Importer();
    const globals = {
      console: {log() {}, warn() {}, error: console.error},
      location: {href: 'file:///'},
      self: {location: {href: 'file:///'}},
      WorkerGlobalScope: function () {},
      // By this the script finds its WebAssembly.
      XMLHttpRequest: class {
        open(method, url) { this.url = url; }
        send() {
          const file = fs.readFileSync(path.join(directory, path.basename(this.url)));
          this.response = file.buffer.slice(file.byteOffset, file.byteOffset + file.length);
        }
      },
      // The package has no 64-bit variant: the script's probe for it, a module of 23 bytes, has to fail.
      WebAssembly: {
        Instance: WebAssembly.Instance,
        RuntimeError: WebAssembly.RuntimeError,
        Module: function (code) {
          if (code.length === 23) throw Error('no 64-bit memory');
          return new WebAssembly.Module(code);
        },
      },
    };
    const script = fs.readFileSync(path.join(directory, 'engine_bundle.node.js'), 'utf8');
    vm.compileFunction(script, Object.keys(globals))(...Object.values(globals));
    importer.#port = {postMessage: data => importer.#answer.push(Buffer.from(data)), onmessage: null};
    globals.self.onmessage({data: importer.#port});
    for (let turns = 0; turns < 5; turns++) await turn();
    return importer;
  }

  // The answers to a request: one, or several to a query.
  #call(method, argument = Buffer.alloc(0)) {
    const request = Buffer.concat([number(1, this.#requests++), number(2, METHOD[method]), argument]);
    this.#answer = [];
    this.#port.onmessage({data: new Uint8Array(bytes(1, request))});
    return [...fields(Buffer.concat(this.#answer))].map(([, message]) => {
      const answer = new Map(fields(message));
      if (answer.has(FATAL_ERROR)) throw Error(answer.get(FATAL_ERROR).toString());
      return answer.get(RESULT[method]) ?? Buffer.alloc(0);
    });
  }

  #check(answers, errorField) {
    for (const answer of answers)
      for (const [field, value] of fields(answer))
        if (field === errorField && value.length) throw Error(value.toString());
  }

  // Forgets the trace before. Throws what the viewer would say of a file it refuses.
  load(file) {
    this.#call('reset');
    const fd = fs.openSync(file);
    const chunk = Buffer.alloc(CHUNK_BYTES);
    try {
      for (let length; (length = fs.readSync(fd, chunk)) > 0;)
        this.#check(this.#call('append', bytes(ARGUMENT.append, chunk.subarray(0, length))), 2);
    } finally {
      fs.closeSync(fd);
    }
    this.#check(this.#call('finalize'), 1);
  }

  // The rows; integers are BigInts.
  query(sql) {
    const columns = [];
    let cells = [];
    for (const answer of this.#call('query', bytes(ARGUMENT.query, bytes(1, sql)))) {
      for (const [field, value] of fields(answer)) {
        if (field === 1) columns.push(value.toString());
        if (field === 2 && value.length) throw Error(`${value}: ${sql}`);
        if (field === 3) cells = cells.concat(cellsOf(value));
      }
    }
    const rows = [];
    for (let at = 0; at < cells.length; at += columns.length) rows.push(cells.slice(at, at + columns.length));
    return rows;
  }
}
