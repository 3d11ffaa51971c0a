// The signs of chips as lines of 10 × 10 pixels: no font has them all, and some show them in colours.

import type { ChipSign } from '../drawing.ts';

/** Path data by sign. */
export const SIGN_PATHS: { readonly [sign in ChipSign]: string } = {
  back: 'M8.5 8.5V5.7Q8.5 3.7 6.5 3.7H1.8M4.3 1.2L1.8 3.7L4.3 6.2',
  home: 'M1 5.3L5 1.5L9 5.3M2.3 4.4V8.8H7.7V4.4',
  exit: 'M5 1V5M2.7 2.5A3.7 3.7 0 1 0 7.3 2.5',
  error: 'M5 1.2L9.3 8.8H0.7ZM5 4V6.1M5 7.3V7.5',
  service:
    'M5 3.1A1.9 1.9 0 1 0 5 6.9A1.9 1.9 0 1 0 5 3.1M5 0.7V2M5 8V9.3M0.7 5H2M8 5H9.3M2 2L2.9 2.9M7.1 7.1L8 8M2 8L2.9 7.1M7.1 2.9L8 2',
  time: 'M5 1A4 4 0 1 0 5 9A4 4 0 1 0 5 1M5 2.8V5L6.6 6.2',
  more: 'M1.5 1.2H6.5V6.8H1.5ZM8.5 3.2V8.8H3.5',
  hidden: 'M1.5 5H1.6M5 5H5.1M8.5 5H8.6',
};
