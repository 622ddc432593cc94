// Account statements with hbci4java: one by its number, all that are not acknowledged, and the acknowledgement of one.
// Arguments as those of HbciPeer up to the method; then the job (Kontoauszug, KontoauszugPdf), year and number.

import java.io.File;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.text.SimpleDateFormat;
import java.util.Date;
import java.util.List;
import java.util.Properties;
import org.kapott.hbci.GV.HBCIJob;
import org.kapott.hbci.GV_Result.GVRKontoauszug;
import org.kapott.hbci.GV_Result.GVRKontoauszug.GVRKontoauszugEntry;
import org.kapott.hbci.manager.HBCIHandler;
import org.kapott.hbci.manager.HBCIUtils;
import org.kapott.hbci.passport.AbstractHBCIPassport;
import org.kapott.hbci.passport.HBCIPassport;
import org.kapott.hbci.status.HBCIExecStatus;
import org.kapott.hbci.structures.Konto;

public class HbciStatements {
  static String hash(byte[] data) throws Exception {
    StringBuilder text = new StringBuilder();
    for (byte one : MessageDigest.getInstance("SHA-256").digest(data)) {
      text.append(String.format("%02x", one));
    }
    return text.toString();
  }

  static Object show(Date day) {
    return day == null ? "" : new SimpleDateFormat("yyyy-MM-dd").format(day);
  }

  static List<GVRKontoauszugEntry> fetch(HBCIHandler handler, Konto account, String name, String year, String number)
      throws Exception {
    HBCIJob job = handler.newJob(name);
    job.setParam("my", account);
    if (number != null) {
      job.setParam("idx", number);
      job.setParam("year", year);
    }
    job.addToQueue();
    HBCIExecStatus status = handler.execute();
    if (!status.isOK()) {
      HbciPeer.say("failed", status.getErrorString());
    }
    return ((GVRKontoauszug) job.getJobResult()).getEntries();
  }

  static void list(String word, List<GVRKontoauszugEntry> entries) throws Exception {
    for (GVRKontoauszugEntry entry : entries) {
      HbciPeer.say(word, entry.getYear(), entry.getNumber(), entry.getFormat(), show(entry.getStartDate()),
          show(entry.getEndDate()), show(entry.getDate()), entry.getIBAN(), entry.getFilename(), hash(entry.getData()));
    }
  }

  public static void main(String[] arguments) throws Exception {
    HbciPeer.out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    Properties properties = new Properties();
    properties.setProperty("client.product.name", "KONTORTEST");
    properties.setProperty("client.product.version", "1.0");
    HBCIUtils.init(properties, new HbciPeer.Answers(arguments[0], arguments[1], arguments[3], arguments[4]));
    HBCIUtils.setParam("client.passport.default", "PinTan");
    HBCIUtils.setParam("client.passport.PinTan.init", "1");
    HBCIUtils.setParam("client.passport.PinTan.checkcert", "0");
    HBCIUtils.setParam("log.loglevel.default", "2");
    HBCIPassport passport = AbstractHBCIPassport.getInstance(new File(arguments[2], "passport.dat"));
    HBCIHandler handler = new HBCIHandler("300", passport);
    try {
      Konto account = passport.getAccounts()[0];
      list("named", fetch(handler, account, arguments[5], arguments[6], arguments[7]));
      List<GVRKontoauszugEntry> open = fetch(handler, account, arguments[5], null, null);
      list("open", open);
      HBCIJob receipt = handler.newJob("Receipt");
      receipt.setParam("receipt", new String(open.get(0).getReceipt(), StandardCharsets.ISO_8859_1));
      receipt.addToQueue();
      HBCIExecStatus status = handler.execute();
      HbciPeer.say("acknowledged", status.isOK(), status.isOK() ? "" : status.getErrorString());
      list("left", fetch(handler, account, arguments[5], null, null));
    } finally {
      handler.close();
    }
  }
}
