SELECT count(*) FROM like_:length WHERE v LIKE '%ИГОЛКА%';
