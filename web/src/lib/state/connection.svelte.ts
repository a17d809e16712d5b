// Whether the service is reachable; shown in the banner at the top.
class Connection {
  isLost = $state(false);
}

export const connection = new Connection();
