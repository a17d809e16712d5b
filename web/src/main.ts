// Entry point: loads styles, connects the API client and mounts the app.
import '@fontsource-variable/inter';
import './styles/fonts.css';
import './styles/tokens.css';
import './styles/networks.css';
import './styles/base.css';
import './styles/controls.css';
import './styles/tones.css';
import { mount } from 'svelte';
import App from './App.svelte';
import { connect } from './lib/api';
import { LANGUAGE } from './lib/i18n';
import { transport } from './lib/api/transport';
import { handleSignInRedirect } from './lib/session/signed-in';
import { session } from './lib/session/session.svelte';
import { connection } from './lib/state/connection.svelte';
import { wait } from './lib/state/wait';

function start(): void {
  document.documentElement.lang = LANGUAGE;
  connect(
    transport({
      credentials: (path) => session.credentials(path),
      reauthenticate: () => session.promptSignIn('expired'),
      onConnectionLost: connection.lost,
      onConnectionRestored: connection.restored,
      fetch: (request) => fetch(request),
      wait,
    }),
  );
  const target = document.getElementById('app');
  if (target) mount(App, { target });
}

if (!handleSignInRedirect()) start();
