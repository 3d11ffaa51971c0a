// What a server in production needs, for tests that start one or read its settings.

export const KEYS = {
  PIN_ENCRYPTION_KEY: '8f1de1e2c1a53b2d7f6a90e4b35c7d2818aa4cfe0b61d9f3e27c5b8490ad6f13',
  ORACLE_KEY: 'MgCYKXoHVy7Vk4/QjcEGi+MCqjntUiasxXJ8uJKY0qh11e+0Bs8WsdqGK7xothgrDzzWD0ME7ynPjz2okXDh8537lId8=',
  USSD_GATEWAYS: '203.0.113.0/24',
  PUBLIC_URL: 'https://twins.example.com',
} as const;
