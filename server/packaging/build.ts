// `npm run build`, and before `npm start` where is-built.ts says no: makes `dist` unless it is built from this source already.

import { build } from './make.ts';

process.exitCode = await build(process.cwd());
