// `npm run build`, and with `--start` before `npm start` where is-built.ts says no: makes `dist` unless it is built from this source
// already.

import { build } from './make.ts';

process.exitCode = await build(process.cwd(), { isForStart: process.argv.includes('--start') });
