// Whether this run rewrites expected outputs: `npm test -- --update`.

/** True when `--update` was given: transcript tests write what they saw instead of comparing with it. */
export const update: boolean = process.argv.includes('--update');
