// Worker thread that checks edits of menus, one folder at a time.

import { answerJobs } from '../config/job-thread.ts';
import { checkEdits, type EditAnswer, type EditJob } from './edits.ts';

answerJobs<EditJob, EditAnswer>(checkEdits);
