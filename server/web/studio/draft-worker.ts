// The thread that works on drafts, one job after the other.

import { answerJobs } from '../../config/job-thread.ts';
import { draftWork } from './draft-work.ts';

answerJobs(draftWork());
