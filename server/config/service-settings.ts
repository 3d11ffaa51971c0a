// The settings of what flows may call: modules of services, hosts over HTTP, and the gateway for SMS.

import { fieldsByName, headersByOrigin, list, type Setting, smsFormat, text } from './kinds.ts';

export const SERVICE_SETTINGS = {
  SERVICES: {
    kind: list('module'),
    meaning: 'modules whose default export holds services for call screens',
    fix: 'Set for example SERVICES=./services/bills.js,@my/services.',
  },
  LINT_RULES: {
    kind: list('module'),
    meaning:
      'modules whose default export is a rule for menus, or a list of rules; an error keeps a menu from being served',
    fix: 'Set for example LINT_RULES=./rules/no-shouting.js.',
  },
  SERVICE_HTTP_HOSTS: {
    kind: list('http-host'),
    meaning: 'hosts that http.get, http.post, http.put, http.patch and http.delete may call',
    fix: 'Set for example SERVICE_HTTP_HOSTS=api.example.com,localhost:8080 (no scheme, no path).',
  },
  SERVICE_HTTP_HEADERS: {
    kind: headersByOrigin(),
    secret: 'headers',
    meaning: 'headers that those services add by origin, such as credentials, so that no menu holds them',
    fix: 'Set for example SERVICE_HTTP_HEADERS={"https://api.example.com":{"authorization":"Bearer …"}}, or SERVICE_HTTP_HEADERS_FILE to a file with it.',
  },
  SMS_URL: {
    kind: text('public-url'),
    meaning:
      'where sms.send posts its messages: the address of a gateway for SMS; its credentials stand in SERVICE_HTTP_HEADERS',
    fix: 'Set for example SMS_URL=https://api.africastalking.com/version1/messaging.',
  },
  SMS_FORMAT: {
    kind: smsFormat(),
    default: 'json',
    meaning: 'what that gateway gets and answers',
    fix: 'Set africastalking, twilio, infobip or json, or a format of your own as JSON.',
  },
  SMS_FROM: {
    kind: text('words'),
    meaning: 'the sender of messages that name none; unset = the gateway chooses',
    fix: 'Set for example SMS_FROM=FARMS, as the gateway has it on its list.',
  },
  SMS_FIELDS: {
    kind: fieldsByName(),
    secret: 'fields',
    meaning: 'further fields of each message to the gateway, such as a user name',
    fix: 'Set for example SMS_FIELDS={"username":"sandbox"}, or SMS_FIELDS_FILE to a file with it.',
  },
} as const satisfies Record<string, Setting>;
