// What `import … from 'twinline/server'` gives: a whole server from an environment, for tests and for hosts of their own.

export { type Config, readConfig } from './config.ts';
export { type RunningServer, startServer } from './start.ts';
