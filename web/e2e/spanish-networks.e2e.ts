// Devices and portfolios in Spanish, also with faults and open dialogs.
import { test } from 'vitest';
import { useConsole } from './harness';
import { expectSpanish } from './harness/spanish';

const app = useConsole();

async function createTemplate(name: string, more: object = {}): Promise<string> {
  const protocolItems = ['Filecoin', 'Helium'].map((protocolName) => ({
    protocolName,
    protocolIdentifier: protocolName.toLowerCase(),
    allocationPercentage: 50,
  }));
  const created = await app.post<{ predefinedPortfolioId: string }>('/v1/predefined-portfolio', {
    name,
    description: 'Redes',
    riskLevel: 'Moderate Aggressive',
    protocolItems,
    ...more,
  });
  return created.predefinedPortfolioId;
}

test('pages of devices', async () => {
  const locale = 'es-MX';
  await app.post('/v1/depin-device', { userId: 'ines', network: 'Helium', deviceIdentifier: 'h-es' });
  const page = await app.open('/devices', { as: 'ines', locale });
  await page.getByText('h-es', { exact: true }).waitFor();
  await expectSpanish(page);
  await page.getByRole('button', { name: 'Registrar un dispositivo' }).click();
  await page.getByRole('button', { name: 'Registrar', exact: true }).click();
  await page.getByText('Escriba la red.').waitFor();
  await expectSpanish(page);
  const operators = await app.open('/devices?tab=networks&network=Helium', { as: 'operator', locale });
  await operators.getByText('h-es', { exact: true }).waitFor();
  await expectSpanish(operators);
  const rows = await app.open('/devices/import', { as: 'ines', locale });
  await expectSpanish(rows);
  const field = rows.getByLabel('Filas', { exact: true });
  await field.fill('serie,tipo\nSN-1,hotspot');
  await rows.getByText('no tiene columna para la red').waitFor();
  await field.fill('Red,Número de serie,Dueño\nHelium,h-es\nDIMO,d-1\nDIMO,d-1\n,x,ben\nhelium,h-2');
  await rows.getByText('Ya está registrado.').waitFor();
  await rows.getByText('La fila nombra a otro usuario.').waitFor();
  await expectSpanish(rows);
  await rows.getByRole('button', { name: 'Registrar 2 dispositivos' }).click();
  await rows.getByText('2 dispositivos registrados.').waitFor();
  await expectSpanish(rows);
});

test('pages of portfolios and templates', { timeout: 180_000 }, async () => {
  const locale = 'es-MX';
  const id = await createTemplate('Plantilla');
  await createTemplate('Retirada', { isActive: false });
  const page = await app.open('/portfolios', { as: 'ines', locale });
  await page.getByRole('button', { name: 'Copiar Plantilla', exact: true }).click();
  await page.getByText('«Plantilla» está en sus portafolios.').waitFor();
  await expectSpanish(page);
  await page.goto(`${app.url}/console/portfolios?tab=mine`);
  await page.getByText('Copia', { exact: true }).waitFor();
  await expectSpanish(page);
  await page.getByRole('link', { name: 'Editar Plantilla' }).click();
  await page.getByText(/100\s?% asignado/).waitFor();
  await page.getByRole('button', { name: 'Agregar un protocolo' }).click();
  const first = page.getByRole('group', { name: 'Protocolo 1', exact: true });
  await first.getByLabel('Porcentaje').fill('12.34567');
  await page.getByText('Use 4 decimales como máximo.').waitFor();
  await first.getByLabel('Porcentaje').fill('10');
  await page.getByRole('button', { name: 'Guardar' }).click();
  await page.getByText('Escriba el protocolo.').waitFor();
  await expectSpanish(page);
  await page.getByRole('button', { name: 'Eliminar' }).click();
  await page.getByRole('dialog', { name: '¿Eliminar este portafolio?' }).waitFor();
  await expectSpanish(page);
  const view = await app.open(`/portfolios/templates/${id}`, { as: 'ines', locale });
  await view.getByText('Último cambio:').waitFor();
  await expectSpanish(view);
  const editor = await app.open('/portfolios/templates/new', { as: 'operator', locale });
  await editor.getByRole('button', { name: 'Ofrecer la plantilla' }).click();
  await editor.getByText('Elija el riesgo.').waitFor();
  await expectSpanish(editor);
  const inactive = await app.open('/portfolios?tab=inactive', { as: 'operator', locale });
  await inactive.getByRole('heading', { name: /inactivas?$/ }).waitFor();
  await expectSpanish(inactive);
});
