// Asks Perfetto's importer what it understood of a trace: node ask.mjs IMPORTER_DIRECTORY TRACE SQL...
// A line a row of each query, the columns separated by tabs; null is empty.

import {Importer} from './importer.mjs';

const [directory, trace, ...queries] = process.argv.slice(2);
const importer = await Importer.start(directory);
importer.load(trace);
for (const sql of queries) for (const row of importer.query(sql)) console.log(row.join('\t'));
