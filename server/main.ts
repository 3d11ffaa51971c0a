// `npm start`: the server as a process. Environment in; signals and exit codes out.

import { runServer } from './boot/process.ts';

await runServer(process.env);
