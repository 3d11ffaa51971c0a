// Worker thread for drafts, one job at a time.

import type { Json } from '../../../lib/json/json.ts';
import { answerJobs } from '../../config/job-thread.ts';
import type { DraftCall } from './draft-phones.ts';
import { type DraftAnswer, type DraftJob, draftWork } from './draft-work.ts';

answerJobs<DraftJob, DraftAnswer, DraftCall, Json>(draftWork());
