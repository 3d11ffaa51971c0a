// A simulating process: takes stretches of seeds, and tells what became of them.

import { sumUp } from './many.ts';
import type { Stretch } from './pool.ts';

// Refusals are errors, and nobody reads their stacks: who tells of a failure runs its seed again.
Error.stackTraceLimit = 0;
process.on('message', (stretch: Stretch) => {
  void sumUp(stretch).then((sum) => process.send?.(sum));
});
process.on('disconnect', () => process.exit());
