// The rooms of the source: for each folder, which others it may use, and of which it may know types only. The test of layers
// holds the source to it, and fails on a row or a word that nothing needs any more.

export interface Room {
  /** Folders whose values it imports, with spaces between them. */
  readonly uses: string;
  /** Folders of which it imports types, and no values. */
  readonly types: string;
}

const room = (uses: string, types = ''): Room => ({ uses, types });

/** From the ground up: rooms with all that is in them, and single files. Imports lead down. */
export const FLOORS: readonly string[] = [
  'machines',
  'lib',
  'lib/json',
  'lib/redact.ts',
  'lib/gateway lib/store',
  'lib/engine',
  'lib/http',
  'lib/account lib/flow',
  'lib/delegation lib/diagram lib/domain lib/sms lib/ussd',
  'lib/agent lib/inspection lib/testing',
  'lib/client lib/limits.ts',
  'lib/index.ts',
  'server/config server/telemetry',
  'server/audit server/http server/menus',
  'server/usage',
  'server/gateway server/openapi server/stores server/user server/ussd',
  'server/health server/move server/plugins server/sockets',
  'server/agent server/web',
  'server/docs server/domain',
  'server/doctor',
  'server/boot server/packaging',
  'server/cli',
  'server',
];

export const ROOMS: { readonly [folder: string]: Room } = {
  lib: room(
    'lib/account lib/agent lib/delegation lib/diagram lib/domain lib/engine lib/engine/lifecycle lib/engine/machine lib/engine/session lib/flow lib/flow/format lib/flow/run lib/gateway lib/http lib/inspection lib/store lib/store/memory lib/ussd',
    'lib/json',
  ),
  'lib/account': room('lib', 'lib/engine lib/json lib/store'),
  'lib/agent': room(
    'lib lib/agent/mcp lib/agent/responders lib/agent/run lib/agent/session',
    'lib/engine lib/json lib/store machines',
  ),
  'lib/agent/mcp': room('lib lib/agent lib/delegation lib/http', 'lib/json lib/store'),
  'lib/agent/responders': room(
    'lib lib/agent lib/engine lib/engine/machine lib/engine/session lib/flow/run lib/http',
    'lib/agent/run lib/agent/session lib/flow/format lib/json lib/store',
  ),
  'lib/agent/run': room(
    'lib lib/agent lib/agent/session lib/engine/lifecycle lib/engine/machine lib/store machines',
    'lib/engine lib/json',
  ),
  'lib/agent/session': room('lib lib/agent lib/store', 'lib/agent/run lib/json'),
  'lib/client': room('lib', 'lib/agent/run'),
  'lib/delegation': room('lib lib/engine/lifecycle lib/engine/machine lib/http machines', 'lib/engine lib/store'),
  'lib/diagram': room('lib lib/flow/format lib/flow/run lib/flow/screens', 'lib/flow/testing lib/json'),
  'lib/domain': room(
    'lib lib/domain/did lib/domain/feed lib/domain/twin lib/domain/voting lib/engine/lifecycle lib/engine/machine machines',
    'lib/engine lib/json lib/store',
  ),
  'lib/domain/bulk': room(
    'lib lib/domain lib/domain/credential lib/domain/did lib/domain/feed lib/domain/schema lib/domain/twin lib/json',
    'lib/store',
  ),
  'lib/domain/credential': room('lib lib/domain lib/domain/twin lib/domain/voting lib/store', 'lib/json'),
  'lib/domain/did': room('lib lib/domain lib/domain/feed lib/domain/twin lib/http', 'lib/json lib/store'),
  'lib/domain/feed': room('lib lib/domain lib/domain/schema lib/domain/twin lib/http lib/store', 'lib/json'),
  'lib/domain/schema': room(
    'lib lib/domain lib/domain/did lib/domain/twin lib/domain/voting lib/http lib/json machines',
  ),
  'lib/domain/twin': room('lib lib/domain lib/domain/did lib/domain/feed lib/domain/schema lib/json', 'lib/store'),
  'lib/domain/voting': room(
    'lib lib/domain lib/domain/did lib/domain/feed lib/domain/schema lib/domain/twin lib/engine/lifecycle lib/json lib/store',
    'lib/engine lib/engine/machine machines',
  ),
  'lib/engine': room('lib lib/engine/session lib/json', 'lib/engine/machine lib/engine/memory lib/store'),
  'lib/engine/lifecycle': room('lib lib/engine lib/engine/machine lib/json lib/store'),
  'lib/engine/machine': room('lib lib/engine lib/json'),
  'lib/engine/memory': room('lib lib/engine lib/store', 'lib/json'),
  'lib/engine/session': room('lib lib/engine lib/engine/machine lib/engine/memory lib/json', 'lib/store'),
  'lib/flow': room('lib/flow/expression lib/flow/format lib/flow/lint lib/flow/run lib/flow/testing'),
  'lib/flow/convert': room(
    'lib lib/flow lib/flow/convert/excellent lib/flow/convert/rapidpro lib/flow/convert/steps lib/flow/format lib/flow/lint',
  ),
  'lib/flow/convert/steps': room(
    'lib lib/flow lib/flow/convert lib/flow/format lib/flow/lint',
    'lib/flow/convert/excellent',
  ),
  'lib/flow/convert/excellent': room('lib/flow lib/flow/expression', 'lib/flow/convert/steps lib/flow/format'),
  'lib/flow/convert/rapidpro': room(
    'lib lib/flow/convert lib/flow/convert/excellent lib/flow/convert/steps lib/flow/expression lib/flow/run',
    'lib/flow/format',
  ),
  'lib/flow/editing': room(
    'lib lib/flow/expression lib/flow/format lib/flow/lint lib/flow/run lib/flow/screens',
    'lib/json',
  ),
  'lib/flow/expression': room('lib lib/flow', 'lib/json'),
  'lib/flow/format': room('lib lib/flow lib/flow/expression lib/flow/lint lib/json', 'lib/flow/screens'),
  'lib/flow/lint': room(
    'lib lib/flow/expression lib/flow/format lib/flow/lint/rules lib/flow/screens lib/http',
    'lib/json',
  ),
  'lib/flow/lint/rules': room(
    'lib/flow lib/flow/expression lib/flow/format lib/flow/lint lib/flow/run lib/flow/screens',
    'lib/json',
  ),
  'lib/flow/run': room(
    'lib lib/engine lib/engine/machine lib/flow lib/flow/expression lib/flow/format lib/flow/screens machines',
    'lib/json',
  ),
  'lib/flow/screens': room('lib/flow lib/flow/expression lib/flow/format lib/flow/run', 'lib/engine lib/json'),
  'lib/flow/testing': room(
    'lib lib/engine lib/engine/machine lib/engine/memory lib/engine/session lib/flow lib/flow/expression lib/flow/format lib/flow/lint lib/flow/run lib/flow/screens lib/store/memory',
    'lib/json',
  ),
  'lib/gateway': room(
    'lib lib/gateway/channel lib/gateway/descriptors lib/gateway/json lib/gateway/route lib/json',
    'lib/gateway/request',
  ),
  'lib/gateway/channel': room('lib lib/gateway lib/gateway/http2'),
  'lib/gateway/descriptors': room('lib lib/gateway lib/gateway/channel'),
  'lib/gateway/http2': room('lib lib/gateway lib/gateway/channel'),
  'lib/gateway/json': room('lib lib/gateway lib/gateway/descriptors'),
  'lib/gateway/request': room('lib lib/gateway lib/gateway/channel lib/gateway/descriptors lib/gateway/route lib/json'),
  'lib/gateway/route': room('lib lib/gateway lib/gateway/descriptors lib/gateway/request'),
  'lib/http': room('lib lib/json', 'lib/engine'),
  'lib/inspection': room('lib lib/diagram lib/engine lib/engine/machine lib/flow/run', 'lib/json'),
  'lib/json': room('lib'),
  'lib/sms': room('lib lib/flow lib/flow/run lib/http lib/json', 'lib/engine'),
  'lib/store': room('lib', 'lib/json'),
  'lib/store/index': room('lib lib/store', 'lib/json'),
  'lib/store/lmdb': room('lib lib/store lib/store/log'),
  'lib/store/log': room('lib lib/store'),
  'lib/store/memory': room('lib lib/store lib/store/index lib/store/log', 'lib/json'),
  'lib/store/mongo': room('lib lib/store lib/store/index', 'lib/json'),
  'lib/store/redis': room('lib lib/store lib/store/log lib/store/memory'),
  'lib/store/sqlite': room('lib lib/store lib/store/index', 'lib/json'),
  'lib/testing': room(
    'lib lib/flow/format lib/flow/testing lib/testing/documents lib/testing/logs lib/testing/models lib/testing/sessions lib/ussd',
  ),
  'lib/testing/documents': room('lib lib/testing', 'lib/json lib/store'),
  'lib/testing/logs': room('lib lib/store lib/testing'),
  'lib/testing/models': room('lib/testing lib/testing/documents lib/testing/logs', 'lib lib/json lib/store'),
  'lib/testing/sessions': room('lib/testing', 'lib/store'),
  'lib/ussd': room(
    'lib lib/engine lib/engine/machine lib/engine/session lib/flow/run lib/json lib/ussd/adapters',
    'lib/flow/format lib/store',
  ),
  'lib/ussd/adapters': room('lib/ussd'),
  machines: room(''),
  server: room('lib server/boot server/cli server/config', 'server/http server/plugins server/stores'),
  'server/agent': room(
    'lib lib/agent lib/agent/mcp lib/agent/responders lib/delegation lib/flow/run lib/json lib/store/memory lib/store/redis server/config server/http server/plugins server/sockets server/stores server/telemetry server/user',
    'lib/agent/run lib/engine lib/http lib/store server/audit server/http/middleware',
  ),
  'server/audit': room('lib lib/domain lib/domain/feed lib/domain/twin lib/store', 'lib/json server/telemetry'),
  'server/boot': room(
    'lib lib/account lib/agent lib/delegation lib/domain lib/engine lib/engine/memory lib/engine/session lib/flow/format lib/flow/testing lib/http lib/inspection lib/sms lib/store lib/ussd server/agent server/audit server/config server/docs server/doctor server/domain server/gateway server/health server/http server/http/middleware server/menus server/openapi server/stores server/telemetry server/usage server/ussd server/web server/web/inspector server/web/kit server/web/preview server/web/registry server/web/simulator server/web/studio',
    'lib/flow/lint lib/store/redis server/plugins server/sockets',
  ),
  'server/cli': room(
    'lib lib/flow/expression server/cli/menus server/cli/phone server/cli/verbs server/config server/http server/stores server/telemetry',
    'lib/store',
  ),
  'server/cli/menus': room(
    'lib lib/diagram lib/flow/convert lib/flow/expression lib/flow/format lib/flow/lint lib/flow/run lib/flow/testing server/cli server/config server/menus server/web/diagram',
    'lib/json',
  ),
  'server/plugins/shipped': room(
    'lib lib/agent lib/json lib/store server/http server/user',
    'lib/engine server/audit server/config server/plugins',
  ),
  'server/cli/phone': room(
    'lib lib/engine lib/engine/machine lib/flow/expression lib/flow/format lib/flow/run lib/flow/testing lib/ussd server/boot server/cli server/cli/menus server/config server/http server/menus server/telemetry',
    'lib/json',
  ),
  'server/cli/verbs': room(
    'lib lib/account lib/agent lib/delegation lib/domain lib/domain/bulk lib/engine/memory lib/engine/session lib/flow/expression lib/gateway server/audit server/boot server/cli server/config server/doctor server/gateway server/http server/http/middleware server/move server/openapi server/plugins server/stores server/telemetry server/ussd server/web/preview server/web/studio',
    'lib/inspection lib/store',
  ),
  'server/config': room(
    'lib lib/flow/expression lib/flow/format lib/http lib/sms lib/store/redis lib/ussd',
    'lib/json',
  ),
  'server/docs': room(
    'lib lib/domain lib/domain/did lib/flow/format server/config server/docs/reference server/http server/web/kit',
    'lib/json server/openapi',
  ),
  'server/docs/generate': room(''),
  'server/docs/reference': room(
    'lib lib/engine lib/flow lib/flow/expression lib/flow/format lib/flow/lint lib/flow/run server/menus',
    'lib/flow/testing lib/json server/web/kit',
  ),
  'server/doctor': room(
    'lib lib/agent/mcp lib/agent/responders lib/delegation lib/domain lib/domain/credential lib/http lib/store/lmdb lib/store/mongo lib/store/redis lib/store/sqlite lib/ussd server/agent server/config server/domain server/gateway server/http server/menus server/plugins server/stores server/ussd',
    'lib/engine lib/flow/lint lib/store',
  ),
  'server/domain': room(
    'lib lib/domain lib/domain/bulk lib/domain/credential lib/domain/did lib/domain/feed lib/domain/twin lib/domain/voting lib/http lib/json server/audit server/config server/domain/routes server/http server/telemetry server/web/registry',
    'lib/delegation lib/engine lib/store',
  ),
  'server/domain/routes': room(
    'lib lib/domain lib/domain/bulk lib/domain/credential lib/domain/did lib/domain/feed lib/domain/schema lib/domain/twin lib/domain/voting lib/json server/config server/domain server/http server/web/kit',
    'lib/store server/audit server/web/registry',
  ),
  'server/gateway': room(
    'lib lib/gateway lib/gateway/channel lib/gateway/descriptors lib/gateway/request lib/gateway/route lib/http server/config server/gateway/answers server/http server/http/middleware server/telemetry',
    'lib/json',
  ),
  'server/gateway/answers': room(
    'lib lib/gateway lib/gateway/channel server/config server/http server/http/middleware',
    'server/gateway',
  ),
  'server/health': room('lib lib/json server/http server/stores server/telemetry', 'lib/store server/config'),
  'server/http': room(
    'lib lib/domain lib/domain/did lib/domain/schema lib/http lib/json server/config server/http/middleware server/telemetry',
    'lib/store/redis',
  ),
  'server/http/middleware': room('lib server/config server/http server/telemetry', 'lib/store/redis'),
  'server/menus': room(
    'lib lib/account lib/agent/responders lib/engine/machine lib/flow lib/flow/expression lib/flow/format lib/flow/lint lib/flow/run lib/flow/testing lib/ussd server/config',
    'lib/engine lib/json server/telemetry',
  ),
  'server/move': room(
    'lib lib/agent lib/agent/run lib/store/lmdb lib/store/redis lib/store/sqlite server/audit server/config server/stores',
    'lib/store server/telemetry',
  ),
  'server/openapi': room('lib lib/domain lib/domain/did server/http', 'lib/json'),
  'server/packaging': room(
    'lib/diagram lib/flow/format server/agent server/docs server/docs/generate server/domain server/openapi server/web/kit',
  ),
  'server/plugins': room(
    'lib lib/agent lib/flow/expression lib/http lib/store/memory server/config server/http server/http/middleware server/plugins/shipped server/telemetry server/user',
    'lib/agent/run lib/delegation lib/engine lib/json lib/store server/audit',
  ),
  'server/sockets': room('lib lib/agent lib/json server/config server/http server/user', 'lib/store lib/store/redis'),
  'server/telemetry': room('lib lib/engine/machine lib/http', 'lib/engine lib/json lib/ussd'),
  'server/stores': room(
    'lib lib/account lib/delegation lib/domain lib/domain/feed lib/engine/memory lib/engine/session lib/flow/expression lib/http lib/store lib/store/lmdb lib/store/memory lib/store/mongo lib/store/redis lib/store/sqlite server/audit server/config',
    'lib/json server/telemetry',
  ),
  'server/user': room('lib lib/domain lib/json server/config server/http', 'lib/agent lib/delegation'),
  'server/usage': room('lib/engine/machine lib/json lib/ussd server/http', 'lib lib/store'),
  'server/ussd': room(
    'lib lib/account lib/engine/session lib/flow/expression lib/json lib/ussd server/config server/http server/telemetry server/usage',
    'lib/engine lib/engine/memory lib/flow/lint server/audit server/http/middleware',
  ),
  'server/web': room(
    'lib lib/delegation lib/flow/run lib/flow/testing lib/json server/config server/http server/http/middleware server/menus server/usage server/web/inspector server/web/kit server/web/preview server/web/simulator server/web/studio',
    'lib/engine lib/store lib/ussd server/health',
  ),
  'server/web/browser': room('lib server/web/kit'),
  'server/web/browser/chat': room('lib/client server/web/browser', 'lib/agent/run lib/agent/session'),
  'server/web/browser/inspector': room('lib/engine/machine server/web/browser', 'lib/inspection server/telemetry'),
  'server/web/browser/phone': room('lib/flow/run lib/ussd server/web/browser'),
  'server/web/browser/preview': room('server/web/browser server/web/browser/phone'),
  'server/web/browser/registry': room(
    'lib/client lib/json server/web/browser server/web/kit server/web/registry',
    'lib/domain/voting',
  ),
  'server/web/browser/studio': room(
    'server/web/browser server/web/browser/inspector server/web/browser/phone server/web/browser/studio/flows server/web/browser/studio/form',
    'lib/flow/editing lib/flow/format lib/flow/testing lib/ussd server/menus server/web/studio',
  ),
  'server/web/browser/studio/callers': room('server/web/browser server/web/browser/studio', 'server/usage'),
  'server/web/browser/studio/flows': room(
    'server/web/browser server/web/browser/inspector server/web/browser/studio server/web/browser/studio/form',
    'server/menus server/web/studio server/web/studio/manage',
  ),
  'server/web/browser/studio/form': room(
    'server/web/browser server/web/browser/studio server/web/browser/studio/callers',
    'lib/flow/editing lib/flow/format lib/json server/web/studio',
  ),
  'server/web/diagram': room(
    'lib lib/diagram lib/flow/expression lib/flow/run machines server/config server/web',
    'lib/engine',
  ),
  'server/web/inspector': room(
    'lib lib/account lib/engine lib/engine/machine lib/flow/run lib/flow/testing lib/inspection lib/json lib/store/redis lib/ussd server/config server/http server/web server/web/diagram server/web/kit',
    'lib/store server/audit server/telemetry',
  ),
  'server/web/kit': room('lib server/http server/http/middleware server/web', 'lib/json lib/store'),
  'server/web/preview': room(
    'lib lib/json server/http server/http/middleware server/web server/web/kit server/web/simulator',
    'lib/store server/web/studio',
  ),
  'server/web/registry': room(
    'lib lib/domain lib/domain/voting server/http server/web server/web/diagram server/web/kit',
    'lib/diagram lib/domain/twin lib/store machines',
  ),
  'server/web/simulator': room(
    'lib lib/engine lib/flow/run lib/flow/testing lib/json lib/ussd server/config server/http server/ussd server/web server/web/kit',
    'server/menus',
  ),
  'server/web/studio/manage': room(
    'lib lib/flow/editing lib/flow/format lib/flow/screens lib/flow/testing lib/json server/http server/menus server/web/kit server/web/studio',
  ),
  'server/web/studio': room(
    'lib lib/diagram lib/engine lib/engine/machine lib/flow/convert lib/flow/editing lib/flow/expression lib/flow/format lib/flow/lint lib/flow/run lib/flow/screens lib/flow/testing lib/json lib/store/memory lib/ussd server/config server/http server/menus server/ussd server/web server/web/kit server/web/preview server/web/simulator server/web/studio/manage',
    'lib/store server/audit server/web/diagram',
  ),
};
