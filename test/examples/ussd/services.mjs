// The back office of the example menus, in memory: everything that their call screens ask. A deed is done once for each idempotency key
// and noted in a journal; a question changes nothing.

const CITIZENS = '+254700000101';
const NEWS = [
  {
    en: 'Ward meeting on Friday at 14:00',
    sw: 'Mkutano wa kata Ijumaa saa nane',
    fr: 'Réunion du quartier vendredi à 14 h',
  },
  { en: 'Water comes on Monday', sw: 'Maji yanakuja Jumatatu', fr: 'Eau lundi' },
];

/** The citizens' desk of a ward. */
function desk({ deed }) {
  const citizens = new Set([CITIZENS]);
  let issues = 0;
  return {
    'desk.register': deed(({ phone }) => {
      if (citizens.has(phone)) return { ok: false };
      citizens.add(phone);
      return { ok: true, number: `C${citizens.size}` };
    }),
    'desk.report': deed(() => ({ number: `I${++issues}` })),
    'desk.news': () => ({ items: NEWS }),
  };
}

const LECTURER = '+250788000001';
const STUDENTS = [
  { id: 7, name: 'Marie Uwase', phone: '+250788000002' },
  { id: 8, name: 'Eric Mugabo', phone: '+250788000003' },
];

/** Marks of a college, and appeals against them. */
function marks({ deed }) {
  const students = STUDENTS.map((one) => ({ ...one }));
  const modules = [
    { id: 1, name: 'Web design' },
    { id: 2, name: 'Databases' },
  ];
  const given = [
    { student: 7, module: 1, mark: 87.5 },
    { student: 7, module: 2, mark: 40 },
  ];
  const appeals = [{ id: 1, student: 8, module: 1, reason: 'Question 3 was not added up', status: 'pending' }];
  let last = 1;
  const nameOf = (list, id) => list.find((one) => one.id === id)?.name ?? '';
  return {
    'marks.who': ({ phone }) => {
      if (phone === LECTURER) return { role: 'lecturer' };
      const student = students.find((one) => one.phone === phone);
      return student ? { role: 'student', id: student.id, name: student.name } : { role: 'nobody' };
    },
    'marks.register': deed(({ phone, number }) => {
      const student = students.find(({ id }) => `ST${String(id).padStart(4, '0')}` === number.toUpperCase());
      if (!student) return { ok: false, reason: 'unknown' };
      if (student.phone !== phone && student.id !== 8) return { ok: false, reason: 'used' };
      student.phone = phone;
      return { ok: true };
    }),
    'marks.of': ({ student }) => ({
      items: given
        .filter((one) => one.student === student)
        .map((one) => ({ module: one.module, name: nameOf(modules, one.module), mark: one.mark })),
    }),
    'marks.students': () => ({ items: students.map(({ id, name }) => ({ id, name })) }),
    'marks.modules': () => ({ items: modules.map((one) => ({ ...one })) }),
    'marks.appeals': ({ student }) => ({
      items: appeals
        .filter((one) => student === undefined || student === null || one.student === student)
        .map((one) => ({ ...one, name: nameOf(students, one.student), module: nameOf(modules, one.module) })),
    }),
    'marks.appeal': deed(({ student, module, reason }) => {
      if (appeals.some((one) => one.student === student && one.module === module)) return { ok: false };
      appeals.push({ id: ++last, student, module, reason, status: 'pending' });
      return { ok: true };
    }),
    'marks.withdraw': deed(({ appeal }) => {
      const at = appeals.findIndex(({ id }) => id === appeal);
      if (at >= 0) appeals.splice(at, 1);
      return { ok: at >= 0 };
    }),
    'marks.decide': deed(({ appeal, status }) => {
      const one = appeals.find(({ id }) => id === appeal);
      if (one) one.status = status;
      return { ok: one !== undefined };
    }),
    'marks.give': deed(({ student, module, mark }) => {
      given.push({ student, module, mark });
      return { ok: true };
    }),
    'marks.addModule': deed(({ name }) => {
      modules.push({ id: modules.length + 1, name });
      return { ok: true };
    }),
  };
}

const CATEGORIES = ['Best new singer', 'Best gospel song', 'Best dancer', 'Best radio voice', 'Best comedian'].concat(
  Array.from({ length: 11 }, (_, at) => `Best of village ${at + 1}`),
);
const CANDIDATES = ['Chebet Rotich', 'Kip Koech', 'Naliaka Wafula'];

/** Votes for the stars of a region: one for each phone and category. */
function awards({ deed }) {
  const votes = new Map();
  const count = (category) => [...votes.keys()].filter((key) => key.endsWith(` ${category}`)).length;
  const categories = CATEGORIES.map((name, at) => ({ id: at + 1, name }));
  return {
    'awards.categories': () => ({ items: categories }),
    'awards.candidates': ({ category }) => ({
      // Nobody stands in the last category.
      items: category === categories.length ? [] : CANDIDATES.map((name, at) => ({ id: category * 10 + at, name })),
    }),
    'awards.vote': deed(({ phone, category, candidate }) => {
      const key = `${phone} ${category}`;
      if (votes.has(key)) return { ok: false };
      votes.set(key, candidate);
      return { ok: true };
    }),
    'awards.results': () => ({
      items: categories.map(({ id, name }) => ({ name, votes: count(id) })).filter((one) => one.votes > 0),
    }),
  };
}

/** Crop insurance: premiums are 5 % of what is covered. */
function crop({ deed }) {
  const farmers = new Map([
    ['+254712000001', { county: 'Nakuru', policies: [], claims: [{ status: 'PAID', amount: 20_000 }] }],
  ]);
  return {
    'crop.farmer': ({ phone }) => ({ found: farmers.has(phone), ...farmers.get(phone) }),
    'crop.register': deed(({ phone, county }) => {
      farmers.set(phone, { county, policies: [], claims: [] });
      return { ok: true };
    }),
    'crop.quote': ({ cover }) => ({ premium: cover / 20, days: 180 }),
    'crop.insure': deed(({ phone, crop: plant, cover, from, to }) => {
      const policy = { number: `P${farmers.get(phone).policies.length + 1}`, crop: plant, cover, from, to };
      farmers.get(phone).policies.push(policy);
      return policy;
    }),
  };
}

/** Buses of the next days; one seat can be booked once. */
function bus({ deed }) {
  const buses = [
    { id: 3, route: 'Kampala - Gulu', leaves: '2026-12-01T03:00:00Z', seats: 50, price: 25_000, crew: '+256772000009' },
    {
      id: 4,
      route: 'Kampala - Jinja',
      leaves: '2026-12-02T04:30:00Z',
      seats: 14,
      price: 15_000,
      crew: '+256772000009',
    },
  ];
  const bookings = [{ code: 'AA11BB', bus: 3, seat: 7, phone: '+256772000008', status: 'paid' }];
  const taken = (id) => bookings.filter((one) => one.bus === id && one.status !== 'cancelled');
  const describe = (one) => {
    const { route, leaves, seats, price } = buses.find(({ id }) => id === one.bus);
    return { ...one, route, leaves, seats, price };
  };
  return {
    'bus.list': () => ({
      items: buses.filter(({ gone }) => !gone).map((one) => ({ ...one, left: one.seats - taken(one.id).length })),
    }),
    'bus.book': deed(({ phone, bus: id, seat }) => {
      if (taken(id).some((one) => one.seat === seat)) return { ok: false };
      const booking = { code: `AA${20 + bookings.length}BB`, bus: id, seat, phone, status: 'booked' };
      bookings.push(booking);
      return { ok: true, code: booking.code };
    }),
    'bus.find': ({ code }) => {
      const booking = bookings.find((one) => one.code === code);
      return booking ? { found: true, ...describe(booking) } : { found: false };
    },
    'bus.pay': deed(({ code }) => {
      bookings.find((one) => one.code === code).status = 'paid';
      return { ok: true };
    }),
    'bus.cancel': deed(({ code }) => {
      bookings.find((one) => one.code === code).status = 'cancelled';
      return { ok: true };
    }),
    'bus.crew': ({ phone }) => ({ items: buses.filter((one) => one.crew === phone && !one.gone) }),
    'bus.passengers': ({ bus: id }) => ({
      items: taken(id)
        .map(({ seat, phone, status }) => ({ seat, phone, status }))
        .sort((a, b) => a.seat - b.seat),
    }),
    'bus.depart': deed(({ bus: id }) => {
      buses.find((one) => one.id === id).gone = true;
      return { ok: true };
    }),
  };
}

/** Farm inputs on credit, in one district. */
function farm({ deed }) {
  const farmers = new Map([
    ['12345678', { name: 'Jean Bosco', account: '12345678', district: 7, canOrder: true }],
    ['87654321', { name: 'Aline Niyonzima', account: '87654321', district: 7, canOrder: false }],
  ]);
  const stock = [
    { id: 1, name: 'Maize seed 2 kg', unit: 'bag', price: 12_500, kinds: ['H614D', 'PAN 53'] },
    { id: 2, name: 'Urea 50 kg', unit: 'bag', price: 80_000, kinds: [] },
    { id: 3, name: 'Hoe', unit: 'piece', price: 9_000, kinds: ['long'] },
  ];
  const known = new Set(['+25779561230']);
  let orders = 0;
  return {
    'farm.find': ({ account }) => ({ found: farmers.has(account), ...farmers.get(account) }),
    'farm.register': deed(({ name, phone }) => {
      if (known.has(phone)) return { found: false };
      known.add(phone);
      const account = `9000000${known.size}`;
      farmers.set(account, { name, account, district: 7, canOrder: true });
      return { found: true, ...farmers.get(account) };
    }),
    'farm.stock': () => ({ items: stock }),
    'farm.order': deed(({ account }) => {
      farmers.get(account).canOrder = false;
      return { number: `N${++orders}` };
    }),
  };
}

/** A community currency: who holds how many tokens. */
function tokens({ deed }) {
  const symbol = 'SHL';
  const people = new Map([
    ['+254712000011', { name: 'Tom Mwangi', symbol, balance: 120.5, till: '111111' }],
    ['+254712000012', { name: 'Ann Njoroge', symbol, balance: 8, till: '222222' }],
  ]);
  const vouchers = [
    { number: 1, symbol: 'SHL', name: 'Shilingi ya kijiji', place: 'Kinango' },
    { number: 2, symbol: 'MUU', name: 'Muungano wa Wakulima', place: 'Kwale' },
  ];
  const payments = [{ from: '+254712000012', to: '+254712000011', value: 20.5, symbol, day: '2026-11-01' }];
  const guards = new Map();
  const addressOf = (phone) => `0x${phone.slice(1).padStart(40, '0')}`;
  const nameOf = (phone) => people.get(phone)?.name ?? phone;
  return {
    'tokens.me': ({ phone }) => ({ found: people.has(phone), address: addressOf(phone), ...people.get(phone) }),
    'tokens.find': ({ entry }) => {
      const phone = /^0\d{9}$/.test(entry) ? `+254${entry.slice(1)}` : /^\+\d+$/.test(entry) ? entry : undefined;
      const holds = ([one, { till }]) => one === phone || till === entry || addressOf(one) === entry.toLowerCase();
      const [found] = [...people].find(holds) ?? [];
      if (found !== undefined) return { found: true, name: nameOf(found), phone: found };
      return { found: false, ...(phone !== undefined && { phone }) };
    },
    'tokens.transfer': deed(({ phone, to, amount }) => {
      if (phone === to || people.get(phone).balance < amount) return { ok: false };
      people.get(phone).balance -= amount;
      people.get(to).balance += amount;
      payments.unshift({ from: phone, to, value: amount, symbol: people.get(phone).symbol, day: '2026-11-30' });
      return { ok: true };
    }),
    'tokens.vouchers': ({ phone }) => ({
      items: people.get(phone).till === '111111' ? vouchers.map((one) => ({ ...one, balance: one.number * 60 })) : [],
    }),
    'tokens.use': deed(({ phone, symbol: chosen }) => {
      people.get(phone).symbol = chosen;
      return { ok: true };
    }),
    'tokens.statement': ({ phone }) => ({
      items: payments
        .filter(({ from, to }) => from === phone || to === phone)
        .map(({ from, to, ...one }) => ({
          ...one,
          sign: from === phone ? '-' : '+',
          name: nameOf(from === phone ? to : from),
        })),
    }),
    'tokens.guardians': ({ phone }) => ({ items: [...(guards.get(phone) ?? [])] }),
    'tokens.guard': deed(({ phone, guardian, remove }) => {
      const all = guards.get(phone) ?? new Set();
      if (remove) all.delete(guardian);
      else all.add(guardian);
      guards.set(phone, all);
      return { ok: true };
    }),
  };
}

/** Savings groups and the wallets of their members. */
function savings({ deed }) {
  const groups = [
    { id: 1, name: 'Makola Traders', members: 3, saved: 900, mine: 300, min: 10, suggested: 50, maxLoan: 240, rate: 5 },
    { id: 2, name: 'New Weavers', members: 12, saved: 40, mine: 0, min: 500, suggested: 500, maxLoan: 0, rate: 5 },
  ];
  const wallets = new Map();
  const walletOf = (phone) => wallets.get(phone) ?? 60.5;
  let receipts = 0;
  const receipt = () => ({ number: `R${++receipts}` });
  return {
    'savings.me': ({ phone }) => ({ name: 'Kofi', wallet: walletOf(phone), groups }),
    'savings.members': () => ({
      items: [
        { name: 'Ama Owusu', role: 'Treasurer', paid: 300 },
        { name: 'Kofi Mensah', role: null, paid: 300 },
      ],
    }),
    'savings.pay': deed(({ phone, amount }) => {
      wallets.set(phone, walletOf(phone) - amount);
      return receipt();
    }),
    'savings.loan': deed(receipt),
    'savings.charge': deed(({ phone, amount }) => {
      wallets.set(phone, walletOf(phone) + amount);
      return receipt();
    }),
  };
}

/** A wallet that gives 3 % of airtime back. */
function cashback({ deed }) {
  const people = new Map([
    ['+254712000021', { active: true, name: 'Wanjiku', tester: true, balance: 500, saved: ['+254712000022'] }],
    ['+254712000022', { active: false, name: 'Otieno', tester: false, balance: 0, saved: [] }],
  ]);
  const questions = ['teacher', 'school', 'village', 'friend', 'song', 'dish', 'bird'].map((what, at) => ({
    id: at + 1,
    text: `What was your first ${what}?`,
  }));
  const answered = new Map();
  return {
    'cashback.me': ({ phone }) => ({ found: people.has(phone), ...people.get(phone) }),
    'cashback.join': deed(({ phone, code }) => {
      if (code !== '4455') return { ok: false };
      people.set(phone, { active: true, name: null, tester: false, balance: 0, saved: [] });
      return { ok: true };
    }),
    'cashback.charge': deed(({ amount }) => ({ ok: amount < 9_000 })),
    'cashback.buy': deed(({ phone, number, amount, method }) => {
      const one = people.get(phone);
      const back = amount * 0.03;
      one.balance += back - (method === 'my balance' ? amount : 0);
      if (number !== phone && !one.saved.includes(number)) one.saved.push(number);
      return { ok: true, back };
    }),
    'cashback.questions': ({ phone }) => {
      const known = answered.get(phone) ?? [];
      return { set: known.length, items: questions.filter(({ id }) => !known.includes(id)) };
    },
    'cashback.secure': deed(({ phone, question }) => {
      answered.set(phone, [...(answered.get(phone) ?? []), question]);
      return { ok: true };
    }),
  };
}

/** Rides in one town. */
function rides({ deed }) {
  const trips = new Map();
  const busy = new Set(['p9']);
  return {
    'rides.places': ({ phone }) => ({
      items: phone.endsWith('31') ? [{ name: 'Home', address: 'Ngong Road 12', id: 'p3' }] : [],
    }),
    'rides.locate': ({ phone }) =>
      phone.endsWith('31') ? { found: true, address: 'Moi Avenue', id: 'p1' } : { found: false },
    'rides.lookUp': ({ text }) => {
      const id = { airport: 'p2', market: 'p4', desert: 'p9' }[text.toLowerCase()];
      return id ? { found: true, address: text, id } : { found: false };
    },
    'rides.quote': ({ from, to }) => ({
      fare: 250 * (1 + Math.abs(Number(from.slice(1)) - Number(to.slice(1)))),
      minutes: 12,
    }),
    'rides.charge': deed(({ amount }) => ({ ok: amount < 1_000 })),
    'rides.book': deed(({ phone, to }) => {
      // The second driver who is asked goes there.
      if (busy.delete(to)) return { ok: false };
      trips.set(phone, { driver: 'Otieno', plate: 'KDA 123A', minutes: 12, status: 'on the way' });
      return { ok: true, ...trips.get(phone) };
    }),
    'rides.track': ({ phone }) => ({ ok: trips.has(phone), ...trips.get(phone) }),
  };
}

/** Messages for mothers; the third number has opted out once, the fourth has no chat app. */
function mothers({ deed }) {
  const registered = new Map([
    ['+27820000042', 'clinic'],
    ['+27820000043', 'self'],
  ]);
  return {
    'mothers.find': ({ phone }) => ({ registered: registered.get(phone) ?? null, optedOut: phone.endsWith('44') }),
    'mothers.channel': ({ phone }) => ({ name: 'chat', works: !phone.endsWith('45') }),
    'mothers.register': deed(({ phone }) => {
      registered.set(phone, 'self');
      return { ok: true };
    }),
  };
}

/** A self-check for tuberculosis: places, and the answers of callers. */
function tbcheck({ deed }) {
  return {
    'tbcheck.place': ({ text }) =>
      /nairobi|mombasa/i.test(text) ? { found: true, address: `${text}, Kenya` } : { found: false },
    'tbcheck.submit': deed(() => ({ ok: true })),
  };
}

const PARTS = [desk, marks, awards, crop, bus, farm, tokens, savings, cashback, rides, mothers, tbcheck];

/** A back office that knows nobody yet, with its journal: each deed once, in order. */
export function backOffice() {
  const journal = [];
  const done = new Map();
  const deeds = new Set();
  const deed = (does) => Object.assign(does, { isDeed: true });
  const parts = PARTS.flatMap((part) => Object.entries(part({ deed })));
  const services = Object.fromEntries(
    parts.map(([name, work]) => {
      if (!work.isDeed) return [name, async (input) => work(input)];
      deeds.add(name);
      const doOnce = async (input, { idempotencyKey }) => {
        if (!done.has(idempotencyKey)) {
          done.set(idempotencyKey, work(input));
          journal.push({ service: name, key: idempotencyKey, input });
        }
        return done.get(idempotencyKey);
      };
      return [name, doOnce];
    }),
  );
  return { services, deeds, journal };
}

export default backOffice().services;
