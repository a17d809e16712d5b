// Demo data for screenshots.
import type { useConsole } from '.';

const CITIES = [
  ['Austin', 'TX', '78701', 30.2672, -97.7431],
  ['Dallas', 'TX', '75201', 32.7767, -96.797],
  ['Denver', 'CO', '80202', 39.7392, -104.9903],
  ['Portland', 'OR', '97201', 45.5152, -122.6784],
  ['Chicago', 'IL', '60601', 41.8781, -87.6298],
  ['Atlanta', 'GA', '30303', 33.749, -84.388],
  ['Boston', 'MA', '02108', 42.3601, -71.0589],
] as const;
const STREETS = ['Oak Street', 'Elm Road', 'Pine Avenue', 'Cedar Lane', 'Maple Court', 'Birch Way'];
const NETWORKS = ['Helium', 'Filecoin', 'Hivemapper', 'Render', 'DIMO'];
const RISKS = ['Conservative', 'Moderate Conservative', 'Moderate', 'Moderate Aggressive', 'Aggressive'];

export async function seed(app: ReturnType<typeof useConsole>): Promise<void> {
  const key = await app.keyHeaders('ada');
  for (const [c, [city, state, postal, latitude, longitude]] of CITIES.entries()) {
    for (let i = 1; i <= 9 - c; i++) {
      const id = `${city.toLowerCase()}-${i}`;
      const street = `${i * 12 + c} ${STREETS[(i + c) % STREETS.length]}`;
      const rent = 1200 + ((i * 317 + c * 211) % 2400);
      const place = { latitude: latitude + ((i * 7) % 10) / 300, longitude: longitude + ((i * 3) % 10) / 300 };
      if (c < 2) {
        const requirements = {
          minCredit: 620,
          prefCredit: 700,
          minIncome: 55000,
          prefIncome: 70000,
          propertyValue: 410000,
        };
        const where = { addressStreet: street, addressCity: city, addressState: state, addressPostal: postal };
        await app.post(
          '/stage/listings',
          { id, userId: 'ada', ...where, ...place, ...requirements, monthlyPayment: rent },
          key,
        );
      } else {
        const where = { streetAddress: street, city, state, postalCode: postal };
        await app.post('/listings', {
          listingId: id,
          userId: 'dora',
          ...where,
          ...place,
          monthlyRent: rent,
          bedRoomCount: 1 + (i % 4),
        });
      }
      if (i <= 2) await app.post('/stage/savedListings', { userId: 'ada', listingId: id }, key);
    }
  }
  await seedApplications(app);
  for (const [r, riskLevel] of RISKS.entries()) {
    const items = NETWORKS.slice(0, 2 + (r % 3)).map((protocolName, i, { length }) => ({
      protocolName,
      protocolIdentifier: protocolName.toLowerCase(),
      allocationPercentage: i === 0 ? 100 - 20 * (length - 1) : 20,
    }));
    const template = await app.post<{ predefinedPortfolioId: string }>('/v1/predefined-portfolio', {
      name: `${riskLevel} income`,
      description: 'A spread of networks that have paid for years.',
      riskLevel,
      protocolItems: items,
    });
    for (const userId of ['ada', 'chloe', 'chloe'].slice(0, 1 + (r % 3)))
      await app.post(`/v1/user-portfolio/copy/${template.predefinedPortfolioId}`, { userId });
  }
  for (const [n, network] of NETWORKS.entries()) {
    for (let i = 0; i < 8 - n; i++) {
      await app.post('/v1/depin-device', {
        userId: ['ada', 'chloe', 'dev'][i % 3],
        network,
        deviceIdentifier: `${network}-${i}`,
      });
    }
  }
}

/** Ada sets up a pipeline. Ben is verified twice, with a low and a good score, and applies for some of Ada's listings. */
async function seedApplications(app: ReturnType<typeof useConsole>): Promise<void> {
  const [ada, ben] = [await app.tokenHeaders('ada'), await app.tokenHeaders('ben')];
  const checks = { EvictionCheck: true, IncomeCheck: true, SoftCreditCheck: true };
  // The response is text, not JSON.
  await fetch(`${app.url}/verificationPipeline`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...ada },
    body: JSON.stringify({ ClientId: 'okafor-homes', CountryIdentifier: 'US', ...checks }),
  });
  const applicant = {
    FirstName: 'Ben',
    LastName: 'Castillo',
    DateOfBirth: '1990-04-01',
    StreetAddress: '1 Elm Road',
    City: 'Austin',
    State: 'TX',
    PostalCode: '78701',
    Email: 'ben@example.com',
  };
  const consented = { ...applicant, consentVersion: '2026-01', consentedAt: new Date().toISOString() };
  const lowScore = { SSN: '900-00-0560', OpenBankingToken: 'income-41000', OpenBankingSubscriptionId: 'sub-1' };
  const goodScore = { SSN: '900-00-0660', OpenBankingToken: 'income-85000', OpenBankingSubscriptionId: 'sub-1' };
  await app.post('/verifyRentalRequirements?caseId=first', { ...consented, ...lowScore }, ben);
  await app.post('/verifyRentalRequirements?caseId=second', { ...consented, ...goodScore }, ben);
  await app.post('/applications', { userId: 'ben', listingIds: ['dallas-2', 'dallas-1', 'austin-1'] }, ben);
  const decision = { decision: 'declined', reasons: ['softCredit'], note: 'Thank you for applying' };
  await app.post('/v1/applications/ben/dallas-2/decision', decision, ada);
}
