// `npm start`: the server as a process, as `twinline start` runs it. Environment in; signals and exit codes out.

import { twinline } from './cli/main.ts';

const code = await twinline(['start', ...process.argv.slice(2)], process.env);
if (code !== undefined) process.exitCode = code;
