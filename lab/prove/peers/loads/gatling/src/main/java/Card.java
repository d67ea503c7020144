import static io.gatling.javaapi.core.CoreDsl.*;
import static io.gatling.javaapi.http.HttpDsl.*;

import io.gatling.javaapi.core.ChainBuilder;
import io.gatling.javaapi.core.Simulation;
import io.gatling.javaapi.http.HttpProtocolBuilder;
import java.time.Duration;

/** One request with a session token, in Gatling's own words. */
public class Card extends Simulation {
  private static double number(String name) {
    return Double.parseDouble(System.getenv(name));
  }

  private static Duration seconds(double s) {
    return Duration.ofMillis(Math.round(s * 1000));
  }

  {
    int users = (int) number("USERS");
    double rate = number("RATE");
    Duration think = seconds(number("THINK"));
    Duration lasting = seconds(number("SECONDS"));
    HttpProtocolBuilder web = http.baseUrl(System.getenv("BASE")).header("Authorization", "Bearer bench");
    ChainBuilder card = exec(http("card").get("/v1/cards/7"));
    if (rate > 0) {
      // Each arrival is a user; what Gatling's documentation advises for connections where these are short.
      setUp(scenario("card").exec(card).injectOpen(constantUsersPerSec(rate).during(lasting)))
          .protocols(web.shareConnections());
    } else {
      ChainBuilder turn = think.isZero() ? card : card.pause(think);
      setUp(scenario("card").pause(Duration.ZERO, think.plusMillis(1)).forever().on(turn)
          .injectOpen(atOnceUsers(users))).protocols(web).maxDuration(lasting);
    }
  }
}
