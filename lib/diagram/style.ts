// The style sheet of drawings, `drawing.css`, on one line. The build inlines the text into this module.

import { readFileSync } from 'node:fs';

export const DRAWING_STYLE: string = readFileSync(new URL('./drawing.css', import.meta.url), 'utf8')
  .replace(/\/\*.*?\*\//gs, '')
  .replace(/\s+/g, ' ')
  .trim();
