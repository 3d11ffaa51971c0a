// `loadFlow` of the engine: what reads and checks flow files is loaded with the first of them, and a server that gets its flows
// otherwise never loads it.

import type { loadFlow as load } from './format/load.ts';

/** Reads and checks one flow file. Throws ERR_FLOW_INVALID with every problem in words, and `cause: { problems }`. */
export const loadFlow: typeof load = async (file, known) => {
  const loader = await import('./format/load.ts');
  return loader.loadFlow(file, known);
};
