// Every promise of Twinline with its proof. The page on guarantees is made from this table, and `npm run promises` runs it.

/** What is promised, and how it is proved. */
export interface Promised {
  readonly promise: string;
  /** Test files below test/, without .test.ts. */
  readonly proofs: readonly string[];
  /** What Node alone lacks for a proof: only the named suites prove it. */
  readonly needs?: string;
  /** A command that proves it for longer; the figures of its last run stand beside the promise. */
  readonly longer?: string;
  /** What was measured where no such command says it, with its day and machine. */
  readonly measured?: string;
}

/** A command that runs longer than the suite, and what came out last, on two cores. */
export interface LongRun {
  readonly command: string;
  readonly does: string;
  readonly last: string;
}

export const LONG_RUNS: readonly LongRun[] = [
  {
    command: 'npm run fuzz -- --requests 500000 --seed 21',
    does: 'random requests to every route, made from its declaration',
    last: '2026-11-25, beside the same with seed 22, 1,000,000 requests in all: 1,149 s, 564 kinds of answers, 0 findings, 0 uncaught errors',
  },
  {
    command: 'npm run soak -- --minutes 30',
    does: 'callers, twins, votes, webhooks, chats, streams, sockets and queries that never come twice; at SIGTERM all that it leaves is searched for secrets',
    last: '2026-11-25, on two cores: 254,342 pieces of work; memory 131 ± 6 MiB an hour while tables fill (4 minutes: 171, 1 minute: 664), handles 42 → 25, descriptors 55 → 50, threads 13 → 13; no secret in a run of 6 minutes',
  },
  {
    command: 'npm run load',
    does: 'five times the load that the server can carry, over 6,000 connections, to each door in production settings; drips, idle connections and WebSockets',
    last: '2026-11-24, on two cores: goodput at 5 × the peak USSD 80 % (of 10,114 a second), /v1 87 % (of 7,970), agent 82 % (of 9,551), query gateway 85 % (of 4,804); /livez at the 99th percentile 39, 45, 32 and 95 ms; drips end within 5.9 s; an idle connection takes 7.5 kB; 2026-11-26: an idle WebSocket takes 19.3 kB',
  },
  {
    command: 'npm run fuzz -- --packets 60000 --seed 11',
    does: 'spoilt tokens, flows, templates, expressions, filter values, replies, HTTP/2 frames and packets of sockets',
    last: '2026-11-24: 40,875 packets in 10 s, 32 kinds of outcomes, 0 findings, 0 uncaught errors',
  },
  {
    command: 'npm run simulate -- --seeds 60000 --seed 100000',
    does: 'the engine in simulated worlds of crashes, lost answers and wrong clocks',
    last: '2026-11-23: 60,000 worlds in 55 s, 0 violations',
  },
  {
    command: 'npm run mutate',
    does: 'every small change to the code on which security rests, one at a time: the tests of its group must notice at least 90 % of those that change anything',
    last: '2026-11-26: noticed: tokens 99.5 % of 1,168 changes; 2026-11-25, of 3,247 others: PINs 99.0 % of 859, turns 95.3 % of 916, access 99.2 % of 432, the store in memory 98.5 % of 296, the redactor 99.5 % of 209, ballots 96.2 % of 160, tallies 100 % of 136, the limiter 100 % of 125, CORS 100 % of 114',
  },
  {
    command: 'npm run chaos',
    does: 'instances, Redis and MongoDB killed under callers',
    last: 'in short in every `npm run test:kills`',
  },
  {
    command: 'npm run restarts -- --cycles 5000',
    does: 'kill -9 and start, again and again',
    last: 'in short in every `npm test`',
  },
];

/** Room → its promises. */
export const PROMISES: { readonly [room: string]: readonly Promised[] } = {
  'Turns and stores': [
    {
      promise:
        'A turn is applied once, however often it is delivered, by however many processes of one host, and gets the same bytes back',
      proofs: ['server/ussd/exactly-once.short.kills', 'engine/contention', 'simulation/simulation.short.long'],
      longer: 'npm run simulate',
    },
    {
      promise: 'What was answered is on the disk: kill -9 between any two turns, and the dialogue goes on',
      proofs: ['server/ussd/exactly-once.short.kills', 'restart/restart-loop.short.kills'],
      longer: 'npm run restarts -- --cycles 5000',
    },
    {
      promise:
        'Whatever a door needs and however that fails: the answer is that of the table below, in its time, /readyz and /health tell the truth, and afterwards all is well by itself, nothing lost and nothing done twice',
      proofs: ['server/faults/matrix', 'server/faults/matrix.kills'],
    },
    {
      promise:
        'What a menu keeps of a caller is there at the next dial for as long as its author says, whatever restarts between two turns, and no other menu, caller or number reads it; a turn that was acknowledged is remembered',
      proofs: ['ussd/memory', 'ussd/memory.stores'],
    },
    {
      promise:
        'A dialogue that was cut goes on at the next dial as without the cut, once: killed at any write, no call is made twice, and never past a secret that was accepted or on another SIM card',
      proofs: ['ussd/resume'],
    },
    {
      promise: 'A store that forgets its words, stops or dies gives no guess at a PIN for free',
      proofs: ['server/stores/redis-faults.stores', 'server/stores/mongo-faults.stores'],
      needs: 'Redis and MongoDB',
    },
    {
      promise:
        'Instances, Redis (alone, Cluster, Sentinel) and MongoDB killed under callers: no turn lost, doubled or mismatched',
      proofs: ['chaos/chaos.kills'],
      needs: 'Redis and MongoDB',
      longer: 'npm run chaos',
    },
    {
      promise:
        'A full disk or a store that refuses writes: /readyz says so, and it goes on by itself when there is room',
      proofs: ['server/faults/matrix.kills', 'server/stores/refused-writes'],
    },
    {
      promise:
        'A log that cannot be written loses lines, which are counted and told, and ends nothing; neither do files of menu tests that cannot be read, and plugins that hang at the start end it by name',
      proofs: ['server/telemetry/log-output', 'server/boot/process.short.kills', 'server/plugins/load'],
    },
    {
      promise:
        'Files of LMDB and SQLite that were cut, or of which whole pages were overwritten, are refused at the start with words, answer right, or are told as damaged until a start on sound ones; they end no process',
      proofs: ['store/damage.short.kills', 'server/stores/damaged'],
    },
    {
      promise:
        'An instance whose clock is minutes away ends no session in Redis, and is told in the log, by a metric and on its page',
      proofs: ['server/stores/clocks.stores'],
      needs: 'Redis and MongoDB',
    },
    {
      promise: 'Every backend keeps the same contract: memory, LMDB, SQLite, Redis and MongoDB pass the same suites',
      proofs: [
        'store/memory',
        'store/lmdb',
        'store/sqlite',
        'store/redis.stores',
        'store/mongo.stores',
        'store/redis-logs.stores',
      ],
    },
    {
      promise:
        'A service that a flow calls is called once per turn, under one idempotency key, also when it is slow or its process dies',
      proofs: ['engine/calls', 'engine/crash', 'engine/slow-calls'],
    },
    {
      promise:
        'The engine does what XState does, with a restart between every two events: 160 of the 169 SCXML cases that XState runs (the others invoke child machines); 500 random statecharts are where XState is; what cannot run that way is refused',
      proofs: [
        'scxml/scxml',
        'engine/oracle/oracle.short.long',
        'engine/unsupported',
        'engine/differential.short.long',
      ],
    },
    {
      promise:
        'A clock that is set back or on changes no deadline, pause or measured duration inside a process; one that runs ahead for less than a day removes nothing for good; what instances share (locks, votes, leases, sessions outside Redis) goes by the time of day, as the guide of operators says',
      proofs: [
        'server/boot/clock.short.kills',
        'server/boot/clock-ahead',
        'ussd/clock',
        'engine/timers',
        'gateway/breaker',
        'account/spray',
        'server/health/health',
      ],
      measured:
        '2026-11-25: whole servers set back by 2 hours and on by 10 years under calls, streams, locks and limits',
    },
    {
      promise:
        'A phone number in any usual form is saved as that number or refused, in every country, and never becomes another one',
      proofs: ['flow/phone-numbers'],
    },
    {
      promise:
        'Digits, numbers, plurals and characters are read and shown as the language of the caller has them (CLDR)',
      proofs: ['flow/languages'],
    },
    {
      promise:
        'A converted flow of RapidPro answers as it did there (the published cases of its engine); what cannot come along is reported, and stops nothing else',
      proofs: ['flow/convert/routers', 'flow/convert/imports'],
    },
    {
      promise:
        'Every turn ends: loops of screens, endless texts and expressions are cut, patterns of authors run on an engine that does not backtrack',
      proofs: ['engine/step', 'engine/turn', 'flow/screens', 'flow/walks.short.long', 'flow/accept'],
    },
    {
      promise:
        'A session that began on an older version of its flow goes on, and a record that another key has sealed is told apart',
      proofs: ['flow/migrate', 'engine/record', 'server/boot/shared-key.stores'],
    },
  ],
  'USSD and accounts': [
    {
      promise: 'Every answer begins with CON or END, fits the screen of a phone and comes before the deadline',
      proofs: ['server/ussd/walks.short.long', 'server/faults/matrix.kills', 'server/stores/trouble', 'flow/pages'],
    },
    {
      promise: 'PINs are in no file, log, screen, metric or answer',
      proofs: ['server/ussd/pin-bytes.kills', 'server/ussd/secrecy'],
    },
    {
      promise:
        'Private values of a caller are sealed where they are stored and masked for those who watch or look a session up; who is shown them is in the audit log',
      proofs: ['flow/private', 'server/audit/audit', 'server/inspector/one-session'],
    },
    {
      promise:
        'A phone that an operator simulates meets no session of a caller, and in production no account of one; with tokens of operators the audit log says who began it',
      proofs: ['server/ussd/simulated'],
    },
    {
      promise:
        'Those who have no key cannot change, remove or insert an entry of the audit log unseen, nor remove the newest, unless they set the whole store back to an earlier state',
      proofs: ['server/audit/audit', 'server/audit/ledger'],
    },
    {
      promise:
        'Everything that the audit log is to tell of has its entry, whoever writes at the same time and wherever a process is killed: votes, vetoes and credits exactly one, what operators do one before it is done',
      proofs: ['server/audit/ledger', 'server/domain/kill.short.kills'],
      longer: 'npm run chaos',
    },
    {
      promise:
        'Guesses at a PIN are counted once each and lock it, through any number of sessions, services and processes',
      proofs: ['account/attempts', 'account/account', 'server/ussd/accounts'],
    },
    {
      promise:
        'PIN guesses that are spread over many numbers are slowed, and the shipped menus do not say which numbers are registered',
      proofs: ['account/account', 'account/spray', 'server/ussd/instances.stores', 'flow/test-run'],
    },
    {
      promise:
        'Another SIM card cannot change a PIN, and a phone has at most three sessions, through any number of instances',
      proofs: ['account/sim', 'server/ussd/dialects', 'ussd/phone-sessions', 'server/ussd/instances.stores'],
    },
    {
      promise: 'Only the gateways that the operator names speak for callers, in the six dialects as they were recorded',
      proofs: ['server/ussd/gateways', 'ussd/adapters', 'server/ussd/dialects'],
    },
    { promise: 'A menu with a mistake that lint knows is never served', proofs: ['flow/lint', 'server/menus/reload'] },
    {
      promise: 'Callers do not wait for the check of an edited menu, and one whose check takes too much is not served',
      proofs: ['server/menus/reload'],
    },
  ],
  'Digital twins': [
    {
      promise:
        'A deciding vote killed with -9 at any moment verifies its domain exactly once, and credits come only after it',
      proofs: ['server/domain/kill.short.kills', 'domain/histories.short.long', 'domain/credits'],
    },
    {
      promise:
        'Tallies are exact, a voter counts once, and a vote that is over has taken effect before anybody reads its domain',
      proofs: ['domain/tally', 'domain/verification', 'server/domain/closed-votes'],
    },
    {
      promise:
        'No route answers a caller who may not use it; no tenant and no user of the agent sees or changes anything of another',
      proofs: ['server/domain/access', 'server/domain/refusals'],
    },
    {
      promise:
        'Whatever is sent in size and shape, and whatever a query compares with what was stored, no request stops the process for long or makes it answer more than was asked',
      proofs: [
        'server/domain/cost.short.long',
        'server/domain/budgets',
        'domain/schema-cost',
        'domain/search',
        'domain/like',
      ],
    },
    {
      promise:
        'What was acknowledged is read back as it was sent: numbers, texts and names that JSON cannot keep are refused with their place',
      proofs: ['json/reader', 'server/http/json-doors'],
    },
    {
      promise:
        'A failing store or process leaves no half of a change: organisations have their groups, parts their parents',
      proofs: ['domain/registry', 'domain/mongo.stores'],
    },
    {
      promise: 'Webhooks get every event in order at least once, and no receiver or tenant holds up another',
      proofs: ['domain/webhooks', 'server/domain/webhooks'],
    },
    {
      promise:
        'An `Idempotency-Key` is heeded as Stripe does it: the same request gets the first answer, another body under the key is refused, parallel ones act once, through any number of instances',
      proofs: ['server/domain/repeats'],
    },
    {
      promise:
        'What is exported is whole and can be restored: it goes into an empty server as it was, twice without doing anything twice, and keys are not in it; a file that was cut, changed, reordered or put together is told',
      proofs: ['server/cli/bulk', 'server/domain/bulk', 'domain/exports'],
    },
    {
      promise:
        'A place in a status list belongs to one credential for good: after exports and imports, restored older copies, new keys and restarts what the store knows as revoked never verifies, and what is good does while its key is in ORACLE_KEY',
      proofs: ['domain/status-moves', 'domain/card-moves'],
    },
    {
      promise:
        'What one machine holds goes to Redis and MongoDB, and back, as it is: sessions, PINs, chats, delegations and revocations, webhooks, plugins, the audit log and the numbers of the feed; killed at any write it goes on, a target with other data is refused, and both sides are compared. Counts of requests begin anew; a copy of DATA_DIR brings back what was there when it was made, and nothing since',
      proofs: ['server/move/move.short.long', 'server/move/move.kills', 'server/move/guide.kills'],
    },
    {
      promise: 'Cards, DID documents and status lists are those of the W3C standards, as other libraries read them',
      proofs: ['domain/card', 'domain/resolution', 'domain/status-list'],
    },
  ],
  'Agent and tokens': [
    {
      promise:
        'A reply outlives kill -9 of the process that writes it: another one, or the same started again, carries it on or ends it as interrupted, and readers miss nothing and get nothing twice',
      proofs: ['server/agent/owner.short.kills', 'agent/faults.short.long'],
    },
    {
      promise:
        'Aborts, further messages and readers count wherever they come in; one who reads too slowly is cut off and finds the rest',
      proofs: ['server/agent/instances.stores', 'server/agent/slow', 'server/agent/streams'],
    },
    {
      promise:
        'The client for TypeScript reads each frame of a reply and each event of the feed once, in order, over connections that are cut at any byte, over a restart of the server and over the end of a token; it sends no message twice, and no error of it quotes a credential',
      proofs: ['client/replies.short.long', 'client/feed', 'client/requests'],
    },
    {
      promise:
        'A chain of tokens is good or bad as @ucanto/validator finds it, on random chains; what was signed is written byte for byte as ucanto writes it',
      proofs: ['delegation/reference.short.long', 'delegation/chains'],
    },
    {
      promise:
        'A delegation that is replaced or deleted is over at once, on every instance, and so is every earlier one',
      proofs: ['delegation/stored', 'server/sockets/served', 'server/agent/streams'],
    },
    {
      promise: 'Broken and hostile tokens by the thousand: none gets in, and the server goes on answering',
      proofs: [
        'server/agent/flood',
        'delegation/fuzz.short.long',
        'delegation/hostile',
        'delegation/fields',
        'delegation/guard',
      ],
    },
    {
      promise:
        'A socket that comes back gets what it missed, or is told that it begins anew; hostile packets end their own socket only',
      proofs: ['server/sockets/recovery', 'server/sockets/leaving', 'server/sockets/hostile'],
    },
    {
      promise:
        'Whatever a provider of models streams, no text of it is lost, and a reply ends with at most one fault, which says what it was',
      proofs: ['agent/providers', 'agent/model-faults'],
    },
    {
      promise:
        'Credits are spent once per run, by however many instances, and no account goes below zero; only excluded routes are free, to the letter',
      proofs: ['server/plugins/credits', 'server/plugins/exclusions'],
    },
    {
      promise:
        'Users whom nobody knows store no more than their quota, and one address with many identities leaves three quarters of a day to others',
      proofs: ['agent/quotas'],
    },
  ],
  'Query gateway': [
    {
      promise:
        'The query gateway gives a key to nobody, an address to nobody, and a request of another path to no method',
      proofs: ['server/gateway/settings', 'server/gateway/door', 'fuzz/fuzz.short.long'],
    },
    {
      promise:
        'Whatever a node answers, in size and shape, the event loop goes on, memory is bounded and refusals are those declared',
      proofs: ['gateway/shapes.short.long', 'gateway/empty-messages.short.long', 'gateway/http2-floods'],
    },
    {
      promise: 'JSON is that of the standard mapping, whichever of the two channels brings the bytes',
      proofs: ['gateway/json-differential.short.long', 'gateway/conformance.long', 'gateway/http2-differential'],
    },
  ],
  'The server': [
    {
      promise:
        'Whatever is sent to any route: the answer is a declared one, nothing is logged as an error, no secret leaves, and the server goes on',
      proofs: ['fuzz/fuzz.short.long'],
      longer: 'npm run fuzz -- --requests 1000000',
    },
    {
      promise:
        'Under overload requests wait in their order, are turned away in the form of their door after a second, health answers meanwhile, and slow readers and writers are cut',
      proofs: ['server/http/overload', 'server/http/slow-readers', 'server/http/requests'],
      longer: 'npm run load',
    },
    {
      promise:
        'A client has its share of requests, connections, streams and sockets and no more, by address and network, on one machine and on many',
      proofs: [
        'server/http/rate-limit',
        'server/http/client',
        'server/http/shared-rate-limit.stores',
        'server/http/live-places',
      ],
    },
    {
      promise:
        'In production no debugger opens, and tokens of operators have 24 characters or more; from the sixth wrong one in a minute an address gets 429, and whoever shows a right one, or has signed in, is never refused for the requests of others there',
      proofs: [
        'server/boot/process.short.kills',
        'server/config/config',
        'server/health/operator',
        'server/http/operator',
      ],
    },
    {
      promise:
        'No page of another origin reads what is for operators, whatever CORS_ORIGIN lists; a browser that has signed out is out on all instances',
      proofs: ['server/http/cors', 'server/http/cors-headers', 'server/pages/operators'],
    },
    {
      promise: 'What a request says comes into no command that a page shows to be copied',
      proofs: ['server/pages/commands'],
    },
    {
      promise: 'Every key changes without a pause',
      proofs: [
        'server/boot/shared-key.stores',
        'server/boot/oracle-key',
        'server/health/operator',
        'server/domain/keys',
      ],
    },
    {
      promise:
        'Whatever bytes a parser or a socket is given: an answer that is known, soon, nothing uncaught, no secret',
      proofs: ['fuzz/packets.short.long', 'delegation/fuzz.short.long', 'gateway/http2-fuzz.short.long'],
      longer: 'npm run fuzz -- --packets 1000000',
    },
    {
      promise: 'Under callers that never come twice, through all doors, memory, descriptors and threads stay flat',
      proofs: ['server/ussd/walks.short.long', 'soak/trend'],
      longer: 'npm run soak',
    },
    {
      promise:
        'A service, model, MCP server, webhook receiver, store or plugin that quotes a PIN, key, token or delegation leaks none: no log, answer, frame, page, metric, recording or file of the data folder holds it, plain or encoded',
      proofs: ['server/secrecy/quoted', 'engine/secret-calls', 'engine/crash'],
    },
    {
      promise: 'A restart loses no request that was begun, or sent before the server stopped to take more',
      proofs: ['server/boot/drain'],
    },
    {
      promise:
        'Whatever comes over connections, one request behind another, in pieces or given up at any byte: when they are gone nothing is counted for them, and each client has one turn after another',
      proofs: ['server/http/wire.short.long', 'server/http/requests'],
    },
    {
      promise:
        'A start with settings, keys, menus or services that cannot be used ends with exit code 78 and a line for each problem; no secret has a default in production',
      proofs: ['server/boot/process.short.kills', 'server/config/config', 'server/boot/shared-key.stores'],
    },
    {
      promise:
        'A node, service, receiver or model that is dead or slow costs its own callers a bounded wait and others nothing: deadlines, a breaker, a bound of calls, and another try only of what may be done twice',
      proofs: [
        'gateway/breaker',
        'engine/http-service',
        'engine/slow-calls',
        'domain/webhooks',
        'server/faults/matrix',
        'server/faults/matrix.kills',
      ],
    },
    {
      promise:
        'What /openapi.json says is what is served: every declared example works, and no bad request gets an undeclared answer',
      proofs: ['server/openapi/every-example', 'server/openapi/bad-requests.short.long', 'server/openapi/document'],
    },
    {
      promise:
        'The package installs and works as published, with pinned dependencies, no install scripts and a list of its materials',
      proofs: ['package/consumer.package', 'package/image.package', 'package/lockfile.package'],
      needs: 'npm',
    },
  ],
};
