// The API client is generated from the service's OpenAPI document, so that the two cannot drift apart.
import { defineConfig } from '@hey-api/openapi-ts';

export default defineConfig({
  input: process.env.PORTICO_OPENAPI ?? './openapi.json',
  output: { path: 'src/lib/api/generated' },
  plugins: [
    { name: '@hey-api/client-fetch', throwOnError: true },
    '@hey-api/typescript',
    // An operation returns its data and throws an ApiError.
    { name: '@hey-api/sdk', responseStyle: 'data' },
  ],
});
