// For pages that have no script of their own: what their header does.

import { startHeader } from './site.ts';

startHeader();
