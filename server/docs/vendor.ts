// Part of `npm run build`: puts the files of Swagger UI beside the code that serves them.

import { fileURLToPath } from 'node:url';
import { takeSwaggerFiles } from './swagger-files.ts';

takeSwaggerFiles(fileURLToPath(new URL('./swagger', import.meta.url)));
