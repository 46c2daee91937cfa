// What every page does in the browser. Each part looks for its own elements and leaves the others alone.
import { followKeys } from "./keys.js";
import { keepAlive } from "./live.js";
import { offerThemes } from "./theme-toggle.js";
import { tellZone } from "./zone.js";
import { drawWhenSeen } from "./charts.js";
import { tendForms } from "./forms.js";

tellZone();
offerThemes();
followKeys();
keepAlive();
drawWhenSeen();
tendForms();
